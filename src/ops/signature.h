/* TensorFlow's argument and attribute notation, parsed once per op. Parsing needs no memory and
 * cannot fail at run time: a mistake in a record is kept as an error text, which the tests
 * check. */
#ifndef EF_OPS_SIGNATURE_H
#define EF_OPS_SIGNATURE_H
#include "ops/op.h"

enum { EF_DEFAULT_LIST = 16 }; /* longest list a default may have */

/* Storage for the list that a default's text describes. */
typedef union ef_attr_room {
    int64_t ints[EF_DEFAULT_LIST];
    float floats[EF_DEFAULT_LIST];
    bool bools[EF_DEFAULT_LIST];
    ef_dtype types[EF_DEFAULT_LIST];
    ef_shape shapes[4];
    struct {
        const char *at[4];
        char text[96];
    } strings;
    ef_tensor tensor; /* up to 32 bytes, stored inside the tensor */
} ef_attr_room;

/* Returns NULL, or a text that says what is wrong; so do the functions below. */
const char *ef_signature_parse(const ef_op *op, ef_signature *out);
/* Parses "{float, double}" or "numbertype"; returns false for a name that is not a dtype. */
bool ef_type_set_parse(const char *text, uint64_t *set);
/* A row's type: "int >= 1", "{'SAME', 'VALID'}", "list(float)". */
const char *ef_attr_info_parse(const char *type, ef_attr_info *out);
/* Parses an attribute written in TensorFlow's notation, as in defaults and examples: "'NHWC'", "[1,
 * 2]", "int32", "3.5". `room` holds what the value points at. */
const char *ef_attr_text_parse(const ef_attr_info *info, const char *text, ef_attr_value *out,
                               ef_attr_room *room);
/* Index of the word s in a choice's list, or -1; and the word at an index. */
int ef_choice_find(const char *type, const char *s);
const char *ef_choice_name(const char *type, int index);
#endif
