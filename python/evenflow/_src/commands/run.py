"""`evenflow run`: the command line. cli.py runs the program."""
from .options import Parser

EXAMPLES = (("evenflow run train.py --epochs 3", "runs train.py; what follows its name are its own arguments"),
            ("evenflow run -m package.train", "the same for a module"),
            ("evenflow run --trace out.json train.py", "writes what the engine did, and when; Perfetto opens it"),
            ("cat train.py | evenflow run -", "the program is read from standard input"))


def parser():
    parse = Parser("evenflow run", "Runs a TensorFlow program on Evenflow. `import tensorflow` gives Evenflow; the program is "
                   "otherwise unchanged,\nand TensorFlow itself is neither needed nor looked for.", EXAMPLES)
    parse.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    parse.add_argument("--trace", metavar="FILE", help="write what the engine did, and when, as trace-event JSON")
    parse.add_argument("program", metavar="PROGRAM", help="the program: a file, or - for standard input")
    parse.add_argument("arguments", metavar="ARGUMENT", nargs="...", help="its arguments")
    return parse
