/* Compares elementwise ops with values computed by TensorFlow: special numbers, overflow, rounding,
 * division of every sign. Each row also runs one element at a time, through the scalar loops that
 * follow the vector loops. After the table: calls that must fail, and ops on strings. */
#include "check.h"
#include "ops/example.h"
#include "ops/run.h"
#include <stdlib.h>

static const struct row {
    const char *op, *in, *out;
} rows[] = {
    {"Exp", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,0,1,1,2.7182817,0.36787945,1.6487212,0.082085,10686474223616,9.357623e-14,inf,0"},
    {"Log", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,nan,-inf,-inf,0,nan,-0.6931472,nan,3.4011974,nan,4.6051702,nan"},
    {"Log1p", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,nan,0,-0,0.6931472,-inf,0.4054651,nan,3.4339871,nan,4.6151204,nan"},
    {"Expm1", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-1,0,-0,1.7182817,-0.63212055,0.6487213,-0.917915,10686474223616,-1,inf,-1"},
    {"Tanh", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,1,-1,0,-0,0.7615942,-0.7615942,0.46211714,-0.98661435,1,-1,1,-1"},
    {"Sigmoid", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,1,0,0.5,0.5,0.73105854,0.2689414,0.62245935,0.075858176,1,9.357623e-14,1,0"},
    {"Sqrt", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,nan,0,-0,1,nan,0.70710677,nan,5.477226,nan,10,nan"},
    {"Rsqrt", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,0,nan,inf,-inf,1,nan,1.4142135,nan,0.18257418,nan,0.1,nan"},
    {"Reciprocal", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,0,-0,inf,-inf,0.99999994,-0.99999994,1.9999999,-0.4,0.033333335,-0.033333335,0.01,-0.01"},
    {"Sin", "float[9]{nan,0,-0,1,-1,0.5,-2.5,30,1000}",
     "nan,0,-0,0.84147096,-0.84147096,0.47942555,-0.5984722,-0.9880316,0.82687956"},
    {"Cos", "float[9]{nan,0,-0,1,-1,0.5,-2.5,30,1000}",
     "nan,1,1,0.5403023,0.5403023,0.87758255,-0.8011436,0.15425146,0.56237906"},
    {"Tan", "float[9]{nan,0,-0,1,-1,0.5,-2.5,30,1000}",
     "nan,0,-0,1.5574077,-1.5574077,0.5463025,0.74702233,-6.405331,1.4703242"},
    {"Asin", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,nan,nan,0,-0,1.5707964,-1.5707964,0.52359873,nan,nan,nan,nan,nan"},
    {"Acos", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,nan,nan,1.5707964,1.5707964,0,3.1415927,1.0471976,nan,nan,nan,nan,nan"},
    {"Atan", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,1.5707964,-1.5707964,0,-0,0.7853981,-0.7853981,0.46364754,-1.19029,1.5374753,-1.5374753,"
     "1.5607966,-1.5607966"},
    {"Sinh", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-inf,0,-0,1.1752012,-1.1752012,0.5210953,-6.0502048,5343237111808,-5343237111808,inf,"
     "-inf"},
    {"Cosh", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,inf,1,1,1.5430806,1.5430806,1.127626,6.1322894,5343237111808,5343237111808,inf,inf"},
    {"Asinh", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-inf,0,-0,0.8813736,-0.8813736,0.48121184,-1.6472312,4.094622,-4.094622,5.298342,-5."
     "298342"},
    {"Acosh", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,nan,nan,nan,0,nan,nan,nan,4.0940666,nan,5.298292,nan"},
    {"Atanh", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,nan,nan,0,-0,inf,-inf,0.54930615,nan,nan,nan,nan,nan"},
    {"Abs", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,inf,0,0,1,1,0.5,2.5,30,30,100,100"},
    {"Sign", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,1,-1,0,0,1,-1,1,-1,1,-1,1,-1"},
    {"Round", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-inf,0,-0,1,-1,0,-2,30,-30,100,-100"},
    {"Floor", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-inf,0,-0,1,-1,0,-3,30,-30,100,-100"},
    {"Ceil", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-inf,0,-0,1,-1,1,-2,30,-30,100,-100"},
    {"Rint", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-inf,0,-0,1,-1,0,-2,30,-30,100,-100"},
    {"Relu", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,0,0,0,1,0,0.5,0,30,0,100,0"},
    {"Relu6", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,6,0,0,0,1,0,0.5,0,6,0,6,0"},
    {"Softplus", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,0,0.6931472,0.6931472,1.3132616,0.3132617,0.9740769,0.078889735,30,9.357623e-14,100,"
     "0"},
    {"Softsign", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,nan,nan,0,-0,0.5,-0.5,0.33333334,-0.71428573,0.9677419,-0.9677419,0.990099,-0.990099"},
    {"Elu", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-1,0,-0,1,-0.63212055,0.5,-0.917915,30,-1,100,-1"},
    {"Selu", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,-1.7580993,0,-0,1.050701,-1.1113307,0.5253505,-1.6137857,31.52103,-1.7580993,105."
     "0701,-1.7580993"},
    {"Erf", "float[7]{nan,0,-0,1,-1,0.5,-2.5}",
     "nan,0,-0,0.84270084,-0.84270084,0.5204999,-0.99959296"},
    {"Erfc", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,0,2,1,1,0.15729922,1.8427007,0.47950011,1.999593,0,2,0,2"},
    {"Lgamma", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,inf,inf,inf,0,inf,0.5723649,-0.056243714,71.25704,inf,359.13422,inf"},
    {"Digamma", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,nan,nan,nan,-0.5772159,nan,-1.9635108,1.1031568,3.3844383,nan,4.600162,nan"},
    {"BesselI0e", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,0,0,1,1,0.46575963,0.46575963,0.6450354,0.27004647,0.07314594,0.07314594,0.03994438,0."
     "03994438"},
    {"BesselI1e", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,0,-0,0,0,0.20791042,-0.20791042,0.15642083,-0.20658465,0.07191633,-0.07191633,0."
     "039744154,-0.039744154"},
    {"IsNan", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "1,0,0,0,0,0,0,0,0,0,0,0,0"},
    {"IsInf", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "0,1,1,0,0,0,0,0,0,0,0,0,0"},
    {"IsFinite", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "0,0,0,1,1,1,1,1,1,1,1,1,1"},
    {"Neg", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,-inf,inf,-0,0,-1,1,-0.5,2.5,-30,30,-100,100"},
    {"Square", "float[13]{nan,inf,-inf,0,-0,1,-1,0.5,-2.5,30,-30,100,-100}",
     "nan,inf,inf,0,0,1,1,0.25,6.25,900,900,10000,10000"},
    {"Erfinv", "float[8]{nan,1,-1,0,0.5,-0.25,0.999,2}",
     "nan,inf,-inf,0,0.4769363,-0.22531205,2.3267682,nan"},
    {"Ndtri", "float[6]{0,1,0.5,0.1,0.975,-1}", "-inf,inf,0,-1.2815516,1.9599644,nan"},
    {"AddV2",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "10,-4,4,-10,5,5,inf,inf,3.5,-3.5,-inf,inf,nan,3,0"},
    {"Sub",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "4,-10,10,-4,-5,-5,inf,-inf,7.5,-7.5,inf,-inf,nan,3,0"},
    {"Mul",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "21,-21,-21,21,0,-0,inf,inf,-11,-11,-inf,-inf,nan,0,0"},
    {"MulNoNan",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "21,-21,-21,21,0,-0,inf,inf,-11,-11,-inf,-inf,nan,0,0"},
    {"Div",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "2.3333333,-2.3333333,-2.3333333,2.3333333,0,-0,inf,0,-2.75,-2.75,-0,-0,nan,inf,nan"},
    {"DivNoNan",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "2.3333333,-2.3333333,-2.3333333,2.3333333,0,-0,inf,0,-2.75,-2.75,-0,-0,nan,0,0"},
    {"RealDiv",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "2.3333333,-2.3333333,-2.3333333,2.3333333,0,-0,inf,0,-2.75,-2.75,-0,-0,nan,inf,nan"},
    {"FloorDiv",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "2,-3,-3,2,0,-0,inf,0,-3,-3,-0,-0,nan,inf,nan"},
    {"FloorMod",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1,2,-2,-1,0,-0,nan,1,-0.5,0.5,-inf,inf,nan,nan,nan"},
    {"Mod",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1,-1,1,-1,0,-0,nan,1,1.5,-1.5,1,-1,nan,nan,nan"},
    {"TruncateDiv",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "2,-2,-2,2,0,-0,inf,0,-2,-2,-0,-0,nan,inf,nan"},
    {"TruncateMod",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1,-1,1,-1,0,-0,nan,1,1.5,-1.5,1,-1,nan,nan,nan"},
    {"Maximum",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "7,3,7,-3,5,5,inf,inf,5.5,2,1,inf,nan,3,0"},
    {"Minimum",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "3,-7,-3,-7,0,-0,2,1,-2,-5.5,-inf,-1,nan,0,0"},
    {"SquaredDifference",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "16,100,100,16,25,25,inf,inf,56.25,56.25,inf,inf,nan,9,0"},
    {"Xdivy",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "2.3333333,-2.3333333,-2.3333333,2.3333333,0,-0,inf,0,-2.75,-2.75,-0,-0,nan,inf,0"},
    {"Xlogy",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "7.690286,-7.690286,nan,nan,0,-0,inf,inf,nan,-3.8123095,nan,-inf,nan,-inf,0"},
    {"Xlog1py",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "9.704061,-9.704061,nan,nan,0,-0,inf,inf,nan,-6.042368,nan,-inf,nan,0,0"},
    {"Atan2",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1.1659046,-1.1659046,1.9756881,-1.9756881,0,-0,1.5707964,0,1.9195673,-1.2220253,3.1415927,-0,"
     "nan,1.5707964,0"},
    {"Pow",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "343,-343,0.0029154518,-0.0029154518,0,-0,inf,1,0.03305785,30.25,1,1,nan,1,1"},
    {"NextAfter",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "6.9999995,-6.9999995,6.9999995,-6.9999995,1e-45,1e-45,3.4028234663852886e+38,1.0000001,5."
     "4999995,-5.4999995,0.99999994,-0.99999994,nan,2.9999998,0"},
    {"Equal",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "0,0,0,0,0,0,0,0,0,0,0,0,0,0,1"},
    {"NotEqual",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1,1,1,1,1,1,1,1,1,1,1,1,1,1,0"},
    {"Less",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "0,1,0,1,1,1,0,1,0,1,0,1,0,0,0"},
    {"LessEqual",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "0,1,0,1,1,1,0,1,0,1,0,1,0,0,1"},
    {"Greater",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1,0,1,0,0,0,1,0,1,0,1,0,0,1,0"},
    {"GreaterEqual",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "1,0,1,0,0,0,1,0,1,0,1,0,0,1,1"},
    {"ReluGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "7,-7,0,-0,0,-0,inf,1,0,-5.5,0,-1,nan,0,0"},
    {"EluGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "7,-7,-14,14,0,-0,inf,1,-5.5,-5.5,-inf,-1,nan,3,0"},
    {"SeluGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "7.354907,-7.354907,-8.693305,8.693305,0,-0,inf,1.050701,-1.3304538,-5.778856,-inf,-1.050701,"
     "nan,3.152103,0"},
    {"SoftsignGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "0.4375,-0.4375,0.4375,-0.4375,0,-0,inf,0,0.6111111,-0.6111111,0,-0,nan,3,0"},
    {"TanhGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "-144,-144,144,144,5,5,-inf,nan,58.5,-58.5,nan,nan,nan,-0,0"},
    {"SigmoidGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "-126,-168,126,168,0,-0,-inf,nan,49.5,-71.5,nan,-inf,nan,-0,0"},
    {"SqrtGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "0.21428573,-0.21428573,-0.21428573,0.21428573,inf,-inf,0,inf,-0.18181819,-0.18181819,-inf,-"
     "inf,nan,0,0"},
    {"RsqrtGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "-514.5,514.5,514.5,-514.5,0,0,-inf,-inf,166.375,166.375,inf,inf,nan,0,0"},
    {"InvGrad",
     "float[15]{7,-7,7,-7,0,-0,inf,1,5.5,-5.5,1,-1,nan,3,0} "
     "float[15]{3,3,-3,-3,5,5,2,inf,-2,2,-inf,inf,1,0,0}",
     "-147,-147,147,147,-0,-0,-inf,-inf,60.5,-60.5,inf,-inf,nan,0,0"},
    {"Maximum", "float[5]{nan,1,nan,0,-0} float[5]{1,nan,nan,-0,0}", "nan,nan,nan,0,-0"},
    {"Minimum", "float[5]{nan,1,nan,0,-0} float[5]{1,nan,nan,-0,0}", "nan,nan,nan,0,-0"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{2}", "nan,inf,inf,0,0,4,4,0.0625"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{3}", "nan,inf,-inf,0,-0,8,-8,0.015625"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{0.5}",
     "nan,inf,inf,0,0,1.4142135,nan,0.5"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{-0.5}",
     "nan,0,0,inf,inf,0.70710677,nan,2"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{-1}", "nan,0,-0,inf,-inf,0.5,-0.5,4"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{0}", "1,1,1,1,1,1,1,1"},
    {"Pow", "float[8]{nan,inf,-inf,0,-0,2,-2,0.25} float[]{1.5}",
     "nan,inf,inf,0,0,2.828427,nan,0.125"},
    {"AddV2", "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "10,-4,4,-10,2147483647,-2147483647,-2147483643"},
    {"Sub", "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "4,-10,10,-4,-2147483647,2147483647,-2147483643"},
    {"Mul", "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "21,-21,-21,21,-2147483648,-2147483648,-2147483648"},
    {"Div", "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "2,-2,-2,2,-2147483648,-2147483648,0"},
    {"FloorDiv",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "2,-3,-3,2,-2147483648,-2147483648,-1"},
    {"FloorMod",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "1,2,-2,-1,0,0,-2147483643"},
    {"Mod", "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "1,-1,1,-1,0,0,5"},
    {"TruncateDiv",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "2,-2,-2,2,-2147483648,-2147483648,0"},
    {"TruncateMod",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "1,-1,1,-1,0,0,5"},
    {"Maximum",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "7,3,7,-3,-1,1,5"},
    {"Minimum",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "3,-7,-3,-7,-2147483648,-2147483648,-2147483648"},
    {"SquaredDifference",
     "int32[7]{7,-7,7,-7,-2147483648,-2147483648,5} int32[7]{3,3,-3,-3,-1,1,-2147483648}",
     "16,100,100,16,1,1,25"},
    {"Pow", "int32[5]{2,3,0,-3,0} int32[5]{3,0,0,31,5}", "8,1,1,-1264544299,0"},
    {"LeftShift", "int8[4]{-5,3,100,1} int8[]{0}", "-5,3,100,1"},
    {"RightShift", "int8[4]{-5,3,100,1} int8[]{0}", "-5,3,100,1"},
    {"LeftShift", "int8[4]{-5,3,100,1} int8[]{3}", "-40,24,32,8"},
    {"RightShift", "int8[4]{-5,3,100,1} int8[]{3}", "-1,0,12,0"},
    {"LeftShift", "int8[4]{-5,3,100,1} int8[]{7}", "-128,-128,0,-128"},
    {"RightShift", "int8[4]{-5,3,100,1} int8[]{7}", "-1,0,0,0"},
    {"LeftShift", "int8[4]{-5,3,100,1} int8[]{8}", "-128,-128,0,-128"},
    {"RightShift", "int8[4]{-5,3,100,1} int8[]{8}", "-1,0,0,0"},
    {"LeftShift", "int8[4]{-5,3,100,1} int8[]{100}", "-128,-128,0,-128"},
    {"RightShift", "int8[4]{-5,3,100,1} int8[]{100}", "-1,0,0,0"},
    {"LeftShift", "uint8[4]{251,3,100,1} uint8[]{0}", "251,3,100,1"},
    {"RightShift", "uint8[4]{251,3,100,1} uint8[]{0}", "251,3,100,1"},
    {"LeftShift", "uint8[4]{251,3,100,1} uint8[]{3}", "216,24,32,8"},
    {"RightShift", "uint8[4]{251,3,100,1} uint8[]{3}", "31,0,12,0"},
    {"LeftShift", "uint8[4]{251,3,100,1} uint8[]{7}", "128,128,0,128"},
    {"RightShift", "uint8[4]{251,3,100,1} uint8[]{7}", "1,0,0,0"},
    {"LeftShift", "uint8[4]{251,3,100,1} uint8[]{8}", "128,128,0,128"},
    {"RightShift", "uint8[4]{251,3,100,1} uint8[]{8}", "1,0,0,0"},
    {"LeftShift", "uint8[4]{251,3,100,1} uint8[]{100}", "128,128,0,128"},
    {"RightShift", "uint8[4]{251,3,100,1} uint8[]{100}", "1,0,0,0"},
    {"LeftShift", "int8[1]{3} int8[1]{-2}", "3"},
    {"RightShift", "int64[2]{-9,4611686018427387904} int64[2]{70,62}", "-1,1"},
    {"Abs", "int8[5]{-128,127,-1,0,5}", "-128,127,1,0,5"},
    {"Neg", "int8[5]{-128,127,-1,0,5}", "-128,-127,1,0,-5"},
    {"Square", "int8[5]{-128,127,-1,0,5}", "0,1,1,0,25"},
    {"Sign", "int8[5]{-128,127,-1,0,5}", "-1,1,-1,0,1"},
    {"Invert", "int8[5]{-128,127,-1,0,5}", "127,-128,0,-1,-6"},
    {"PopulationCount", "int16[4]{-1,0,5,-32768}", "16,0,2,1"},
    {"Mul", "uint16[2]{65535,300} uint16[2]{65535,300}", "1,24464"},
    {"Cast",
     "float[12]{nan,inf,-inf,0,-0,1,-1,2.5,-2.5,3000000000,-3000000000,1.0000000200408773e+20} "
     "DstT=int32",
     "-2147483648,-2147483648,-2147483648,0,0,1,-1,2,-2,-2147483648,-2147483648,-2147483648"},
    {"Cast",
     "float[12]{nan,inf,-inf,0,-0,1,-1,2.5,-2.5,3000000000,-3000000000,1.0000000200408773e+20} "
     "DstT=int64",
     "-9223372036854775808,-9223372036854775808,-9223372036854775808,0,0,1,-1,2,-2,3000000000,-"
     "3000000000,-9223372036854775808"},
    {"Cast",
     "float[12]{nan,inf,-inf,0,-0,1,-1,2.5,-2.5,3000000000,-3000000000,1.0000000200408773e+20} "
     "DstT=uint64",
     "9223372036854775808,9223372036854775808,9223372036854775808,0,0,1,18446744073709551615,2,"
     "18446744073709551614,3000000000,18446744070709551616,9223372036854775808"},
    {"Cast",
     "float[12]{nan,inf,-inf,0,-0,1,-1,2.5,-2.5,3000000000,-3000000000,1.0000000200408773e+20} "
     "DstT=bool",
     "1,1,1,0,0,1,1,1,1,1,1,1"},
    {"Cast", "float[6]{300,-1,2.5,127.9,-300,0} DstT=int16", "300,-1,2,127,-300,0"},
    {"Cast", "int32[4]{300,-1,256,0} DstT=uint8", "44,255,0,0"},
    {"Cast", "float[8]{nan,inf,-1000000000,300,-3.7,448,464,465} DstT=float8_e4m3fn",
     "nan,nan,nan,288,-3.75,448,448,nan"},
    {"Cast", "double[6]{1e-300,61439.9,61440,-61440,0.00001,1.125} DstT=float8_e5m2",
     "0,57344,inf,-inf,1.52587890625e-05,1"},
    {"Cast", "float8_e5m2[4]{57344,-3.5,1,0} DstT=uint8", "0,253,1,0"},
    {"Cast", "int32[6]{7,8,-9,17,-1,300} DstT=int4", "7,-8,7,1,-1,-4"},
    {"Cast", "int4[3]{-8,-1,7} DstT=uint16", "65528,65535,7"},
    {"Cast", "float[3]{1.9,-200.5,300} DstT=qint8", "1,56,44"},
    {"Cast", "quint16[2]{65535,3} DstT=float", "65535,3"},
    {"Equal", "qint8[3]{1,-1,7} qint8[3]{1,1,7}", "1,0,1"},
    {"NotEqual", "quint16[2]{65535,3} quint16[]{3}", "1,0"},
    {"Xlogy", "half[6]{0.1,0.2,3.5,-2,-5,30} half[6]{0.1,0.2,3.5,3.1,4,2}",
     "-0.230224609375,-0.32177734375,4.38671875,-2.26171875,-6.93359375,20.796875"},
    {"Xlogy", "bfloat16[6]{0.1,0.2,3.5,-2,-5,30} bfloat16[6]{0.1,0.2,3.5,3.1,4,2}",
     "-0.2294921875,-0.322265625,4.375,-2.265625,-6.90625,20.75"},
    {"Xlog1py", "half[6]{0.1,0.2,3.5,-2,-5,30} half[6]{0.1,0.2,3.5,3.1,4,2}",
     "0.009521484375,0.03643798828125,5.265625,-2.822265625,-8.046875,32.96875"},
    {"Xlog1py", "bfloat16[6]{0.1,0.2,3.5,-2,-5,30} bfloat16[6]{0.1,0.2,3.5,3.1,4,2}",
     "0.009521484375,0.03662109375,5.28125,-2.8125,-8.0625,33"},
    {"TensorStridedSliceUpdate",
     "float[2,3]{0,0,0,0,0,0} int32[2]{0,0} int32[2]{2,2} int32[2]{1,1} float[2,1]{1,2}",
     "1,1,0,2,2,0"},
    {"TensorStridedSliceUpdate",
     "float[2,3]{0,0,0,0,0,0} int32[2]{0,1} int32[2]{2,3} int32[2]{1,1} float[1,1,2]{1,2}",
     "0,1,2,0,1,2"},
    {"Cast", "int64[2]{1099511627781,-1} DstT=int32", "5,-1"},
    {"Cast", "float[6]{1.0009766,70000,65519,1e-08,6e-08,nan} DstT=half",
     "1.001,inf,65504,0,6e-08,nan"},
    {"Cast", "float[3]{1.0039062,1.0117188,inf} DstT=bfloat16", "1,1.015625,inf"},
    {"Cast", "float[4]{1.0039062,1.0117188,1.0099999,nan} DstT=bfloat16 Truncate=true",
     "1,1.0078125,1.0078125,nan"},
    {"Cast", "float[4]{1.0099999,70000,65519.9,2} DstT=half Truncate=true", "1.01,inf,65504,2"},
    {"ClipByValue", "float[4]{nan,1,2,5} float[]{1.5} float[]{3}", "nan,1.5,2,3"},
    {"ClipByValue", "float[3]{0,1,2} float[]{2} float[]{1}", "2,2,2"},
    {"Igamma", "float[5]{1,2,10,0.5,100} float[5]{1,5,3,0,90}",
     "0.6321205,0.9595723,0.0011024885,0,0.15822248"},
    {"Igammac", "float[5]{1,2,10,0.5,100} float[5]{1,5,3,0,90}",
     "0.36787945,0.040427685,0.9988975,1,0.8417775"},
    {"IgammaGradA", "double[4]{1,2,10,30} double[4]{1,5,3,40}",
     "-0.43172971063489896,-0.055859896052536745,-0.0014156364605752093,-0.01602517716800241"},
    {"Zeta", "double[6]{2,3,1.5,1,0.5,2} double[6]{1,0.5,10,3,2,-0.5}",
     "1.6449340668482266,8.414398322117158,0.6486616319415703,inf,nan,8.934802200544679"},
    {"Polygamma", "double[6]{0,1,2,3,-1,0.5} double[6]{2,0.5,3,10,1,1}",
     "0.42278433509846747,4.93480220054468,-0.15411380631918856,0.0023199013042898686,nan,nan"},
    {"Betainc", "float[4]{1,2,0.5,5} float[4]{1,3,0.5,2} float[4]{0.3,0.5,0.9,0}",
     "0.3,0.6875,0.7951672,0"},
    {"Lgamma", "double[5]{0.5,-0.5,-2.5,100,3}",
     "0.5723649429247001,1.2655121234846454,-0.05624371649767407,359.13420536957545,0."
     "6931471805599453"},
    {"Digamma", "double[5]{0.5,-0.5,-2.25,100,1e-07}",
     "-1.9635100260214227,0.03648997397857645,4.158583564657973,4.600161852738088,-10000000."
     "5772155"},
    {"FloorDiv", "half[5]{1,-1,0.5,0.1,-2.975} half[5]{-0.1,0.1,-0.1,0.3,-0.425}",
     "-10,-10,-5,0,7"},
    {"TruncateDiv", "half[5]{1,-1,0.5,0.1,-2.975} half[5]{-0.1,0.1,-0.1,0.3,-0.425}",
     "-10,-10,-5,0,7"},
    {"FloorMod", "half[5]{1,-1,0.5,0.1,-2.975} half[5]{-0.1,0.1,-0.1,0.3,-0.425}",
     "-0.09973,0.09973,-0.09985,0.1,-0.4243"},
    {"AddV2", "half[5]{1,-1,0.5,0.1,-2.975} half[5]{-0.1,0.1,-0.1,0.3,-0.425}",
     "0.9,-0.9,0.4,0.4,-3.4"},
    {"RealDiv", "half[5]{1,-1,0.5,0.1,-2.975} half[5]{-0.1,0.1,-0.1,0.3,-0.425}",
     "-10,-10,-5,0.3333,7"},
    {"SelectV2", "bool[2,1]{1,0} float[3]{1,2,3} float[]{9}", "1,2,3,9,9,9"},
    {"Select", "bool[2]{1,0} float[2,2]{1,2,3,4} float[2,2]{5,6,7,8}", "1,2,7,8"},
    {"Bitcast", "float[2]{1,-2} type=int32", "1065353216,-1073741824"},
    {"ApproximateEqual", "float[4]{1,nan,inf,0} float[4]{1.000001,nan,inf,1e-05}", "1,0,0,1"},
};

/* Inputs written as in a record's examples. */
static ef_status *make(const char *name, const char *text, ef_example *e) {
    static ef_op probe; /* static because the attributes made for it point at it */
    probe = *ef_op_find(name);
    memset(probe.examples, 0, sizeof probe.examples);
    probe.examples[0] = text;
    return ef_example_make(&probe, 0, 1, e);
}
static ef_status *run(const char *name, const ef_example *e, ef_tensor *const *in, ef_tensor *out) {
    int n;
    memset(out, 0, sizeof *out);
    return ef_op_run(ef_context_here(), ef_op_find(name), ef_attrs_fields(e->attrs), in, e->n_in,
                     out, 1, &n);
}

static bool near(ef_dtype t, double got, double want) {
    double tolerance = t == EF_F64 ? 1e-10 : t == EF_F32 ? 2e-5 : t == EF_F16 ? 2e-3 : 1e-2;
    if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
    if (!ef_dtype_in(t, EF_FLOATS)) tolerance = 0;
    return got == want || fabs(got - want) <= tolerance * fabs(want) + tolerance * 1e-3;
}
static void compare(const struct row *r, const ef_tensor *out, int64_t i, double want) {
    double got = ef_element_double((ef_dtype)out->dtype, out->data, i);
    if (near((ef_dtype)out->dtype, got, want)) return;
    ef_check.failed = true;
    printf("%s(%s): element %lld is %.9g, expected %.9g\n", r->op, r->in, (long long)i, got, want);
}

/* Element i of every input alone (scalars stay); false if an output element depends on several
 * input elements. */
static bool single(const ef_example *e, int64_t i, ef_tensor *in, ef_tensor **ins) {
    for (int k = 0; k < e->n_in; k++) {
        ef_shape one = ef_scalar_shape();
        const ef_tensor *t = &e->in[k];
        int64_t at = ef_count(t) == 1 ? 0 : i;
        if (t->rank > 1) return false;
        char *from = (char *)t->data + at * (int64_t)ef_dtype_size((ef_dtype)t->dtype);
        ef_tensor_from((ef_dtype)t->dtype, &one, from, &in[k]);
        ins[k] = &in[k];
    }
    return true;
}
static void check_row(const struct row *r) {
    ef_example e;
    ef_tensor *in[EF_EXAMPLE_MAX_IN], out, alone[EF_EXAMPLE_MAX_IN], *alone_in[EF_EXAMPLE_MAX_IN];
    CHECK_OK(make(r->op, r->in, &e));
    for (int k = 0; k < e.n_in; k++) in[k] = &e.in[k];
    CHECK_OK(run(r->op, &e, in, &out));
    const char *p = r->out;
    for (int64_t i = 0; i < ef_count(&out); i++) {
        char *end;
        double want = strtod(p, &end);
        ef_tensor one = {0};
        CHECK(end != p);
        p = end + (*end == ',');
        compare(r, &out, i, want);
        if (!single(&e, i, alone, alone_in)) continue;
        CHECK_OK(run(r->op, &e, alone_in, &one));
        compare(r, &one, 0, want);
        ef_tensor_release(&one);
    }
    CHECK(*p == 0);
    ef_tensor_release(&out);
    ef_example_free(&e);
}
EF_TEST(values_are_tensorflows) {
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) check_row(&rows[k]);
}

static ef_status *attempt(const char *name, const char *text) {
    ef_example e;
    ef_tensor *in[EF_EXAMPLE_MAX_IN], out;
    EF_TRY(make(name, text, &e));
    for (int k = 0; k < e.n_in; k++) in[k] = &e.in[k];
    ef_status *s = run(name, &e, in, &out);
    ef_tensor_release(&out);
    ef_example_free(&e);
    return s;
}
EF_TEST(refuses) {
    static const char *const division[] = {"Div", "FloorDiv",    "FloorMod",
                                           "Mod", "TruncateDiv", "TruncateMod"};
    for (size_t k = 0; k < sizeof division / sizeof *division; k++) {
        CHECK_FAILS(attempt(division[k], "int32[2]{1,2} int32[2]{1,0}"), EF_INVALID,
                    "Integer division by zero");
        CHECK_OK(attempt(division[k], "int32[0] int32[]{0}"));
    }
    CHECK_FAILS(attempt("Pow", "int32[2]{1,2} int32[2]{1,-1}"), EF_INVALID,
                "Integers to negative integer powers are not allowed");
    CHECK_FAILS(attempt("AddV2", "float[2,3] float[2]"), EF_INVALID, "AddV2: Incompatible shapes");
    CHECK_FAILS(attempt("ReluGrad", "float[2] float[3]"), EF_INVALID, "ReluGrad: ");
    CHECK_FAILS(attempt("ClipByValue", "float[2,3] float[3] float[]"), EF_INVALID,
                "same shape as input, or a scalar");
    CHECK_FAILS(attempt("Select", "bool[3] float[2,3] float[2,3]"), EF_INVALID, "picks rows");
    CHECK_FAILS(attempt("Select", "bool[2,1] float[2,3] float[2,3]"), EF_INVALID,
                "SelectV2 broadcasts");
    CHECK_FAILS(attempt("Cast", "string[1]{1} DstT=float"), EF_UNIMPLEMENTED,
                "Cast string to float32 is not supported");
    CHECK_FAILS(attempt("Bitcast", "uint8[2,3] type=float"), EF_INVALID, "the last dim must be 4");
    CHECK_FAILS(attempt("Betainc", "float[1] float[2] float[2]"), EF_INVALID, "inconsistent");
    CHECK_FAILS(attempt("AddN", "float[1] float[2]"), EF_INVALID, "AddN: ");
}

static void check_text(const char *op, const char *in, const char *want) {
    ef_example e;
    ef_tensor *ins[EF_EXAMPLE_MAX_IN], out;
    char got[200] = "";
    CHECK_OK(make(op, in, &e));
    for (int k = 0; k < e.n_in; k++) ins[k] = &e.in[k];
    CHECK_OK(run(op, &e, ins, &out));
    for (int64_t i = 0; i < ef_count(&out); i++) {
        const ef_str *s = (const ef_str *)out.data + i;
        size_t used = strlen(got);
        snprintf(got + used, sizeof got - used, "%.*s.", (int)s->n, s->n > 0 ? s->at : "");
    }
    CHECK_TEXT(got, want);
    ef_tensor_release(&out);
    ef_example_free(&e);
}
EF_TEST(text) {
    check_text("Add", "string[3]{ab,c,} string[]{d}", "abd.cd.d.");
    check_text("Add", "string[2,1]{a,b} string[2]{x,y}", "ax.ay.bx.by.");
    check_text("SelectV2", "bool[2]{1,0} string[2]{a,b} string[]{c}", "a.c.");
    check_text("Select", "bool[2]{1,0} string[2,2]{a,b,c,d} string[2,2]{e,f,g,h}", "a.b.g.h.");
}

/* Of an op that computes a loss and its gradient, the gradient alone is left out. */
EF_TEST(an_unread_output_is_not_computed) {
    enum { ROWS = 64, CLASSES = 50 };
    const ef_op *op = ef_op_find("SparseSoftmaxCrossEntropyWithLogits");
    static float logits[ROWS * CLASSES];
    static int32_t labels[ROWS];
    const ef_shape matrix = {.rank = 2, .dim = {ROWS, CLASSES}},
                   row_shape = {.rank = 1, .dim = {ROWS}};
    ef_tensor x, k, some[2], all[2], *in[] = {&x, &k};
    int n = 0;
    for (int i = 0; i < ROWS * CLASSES; i++) logits[i] = (float)(i % 7);
    CHECK_OK(ef_tensor_from(EF_F32, &matrix, logits, &x));
    CHECK_OK(ef_tensor_from(EF_I32, &row_shape, labels, &k));
    CHECK_OK(ef_op_run_some(ef_context_here(), op, NULL, in, 2, 2, some, 2, &n));
    CHECK_OK(ef_op_run(ef_context_here(), op, NULL, in, 2, all, 2, &n));
    CHECK(n == 2 && memcmp(some[0].data, all[0].data, sizeof labels) == 0);
    CHECK(memcmp(some[1].data, all[1].data, sizeof logits) != 0);
    for (int j = 0; j < 2; j++) {
        ef_tensor_release(in[j]);
        ef_tensor_release(&some[j]);
        ef_tensor_release(&all[j]);
    }
}

int main(void) {
    EF_RUN(values_are_tensorflows);
    EF_RUN(refuses);
    EF_RUN(text);
    EF_RUN(an_unread_output_is_not_computed);
    return EF_VERDICT();
}
