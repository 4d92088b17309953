#!/usr/bin/env python3
"""The checkers in tools/ must find what they claim to find."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import capacities  # noqa: E402
import check_habits  # noqa: E402
import check_layers  # noqa: E402
import check_records  # noqa: E402
import check_sizes  # noqa: E402
import source  # noqa: E402

LONG = "static int f(int a,\n             int b) {\n" + "    a++;\n" * 160 + "    return a + b;\n}\n"


class Functions(unittest.TestCase):
    def test_length_counts_the_whole_declaration(self):
        self.assertEqual(source.functions(LONG), [("f", 1, 164)])

    def test_braces_in_text_and_tables_do_not_confuse(self):
        text = ('/* { */ const char *s = "}{";\nstatic const int t[] = {1, {2}};\nstruct p { int x; };\n'
                "void g(void) {\n    char c = '{';\n    if (c) { c = '}'; }\n}\n"
                'extern "C" {\nint h(void) { return 1; }\n}\nEF_TEST(adds) {\n}\n')
        self.assertEqual(source.functions(text), [("g", 4, 4), ("h", 9, 1), ("EF_TEST(adds)", 11, 2)])

    def test_macros_are_measured_too(self):
        self.assertEqual(source.functions("#define M(x) \\\n    do { \\\n    } while (x)\nint y;\n"),
                         [("M (macro)", 1, 3)])

    def test_limits(self):
        self.assertEqual(check_sizes.judge("f", 80, 80, 150), (None, False))
        self.assertIn("note", check_sizes.judge("f", 81, 80, 150)[0])
        self.assertTrue(check_sizes.judge("f", 151, 80, 150)[1])


class Capacities(unittest.TestCase):
    def judge(self, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "src").mkdir()
            (root / "src" / "a.c").write_text(text)
            return capacities.table([("src/a.c", "MOST_HELD SLOTS", "split", "small")], root)

    def test_values_come_from_the_source(self):
        lines, complaints = self.judge("enum { MOST_HELD = 1 << 4, SLOTS = 7 /* few */ };\n")
        self.assertEqual(complaints, [])
        self.assertEqual(lines[2:], ["| `MOST_HELD` | 1 << 4 | src/a.c | split | small |",
                                     "| `SLOTS` | 7 | src/a.c | split | small |"])

    def test_a_name_that_is_gone_or_missing(self):
        complaints = self.judge("enum { MOST_HELD = 16, MAX_DEPTH = 3 };\n")[1]
        self.assertEqual(["SLOTS" in c or "MAX_DEPTH" in c for c in complaints], [True, True])

    def test_the_list_fits_the_tree(self):
        self.assertEqual(capacities.table()[1], [])


class Records(unittest.TestCase):
    OPS = {"MatMul", "Mul", "_Fused"}

    def named(self, text):
        return list(check_records.named(text, self.OPS))

    def test_records_numbers_and_names_are_found(self):
        self.assertEqual(self.named("if (op == &ef_op_MatMul)\n    return op->id == EF_OP__Fused;\n"),
                         [(1, "MatMul"), (2, "_Fused")])
        self.assertEqual(self.named('if (is(n, "Mul") || strcmp(name, "MatMul") == 0)\n'), [(1, "Mul"), (1, "MatMul")])
        self.assertEqual(self.named('op = ef_op_find("Mul");\n'), [(1, "Mul")])

    def test_builders_rules_and_words_are_free(self):
        self.assertEqual(self.named('x = ef_emit(&b.base, "Mul", 2, y,\n    ef_emit_set(b, "MatMul", set, 1, 2, y, z));\n'), [])
        self.assertEqual(self.named('{"x*1", P(OP(Mul), X, ONE), P(X)}, /* as "Mul" and ef_op_Mul */\n'), [])
        self.assertEqual(self.named('ef_op_run(op); ef_error("Mul: not \\"MatMul\\" or", ef_op_table[EF_OP_COUNT]);\n'), [])

    def test_what_an_emitter_is_handed_is_not_free(self):
        self.assertEqual(self.named('ef_emit(b, state ? "MatMul" : "Mul", 1, x);\n'), [(1, "MatMul"), (1, "Mul")])

    def test_only_the_engine_outside_the_records_is_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"src/ops/all.def": "EF_OP(Mul)\n", "src/ops/mul.c": "ef_op_Mul;\n",
                               "src/plan/a.c": "int x;\nef_op_Mul;\n", "src/plan/a_test.c": "ef_op_Mul;\n"}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            self.assertEqual([c.split(" ")[0] for c in check_records.complaints(root)], ["src/plan/a.c:2:"])

    def test_the_tree(self):
        self.assertEqual(list(check_records.complaints()), [])


class Layers(unittest.TestCase):
    STYLE = ("src/base   things. →(libc only)\nsrc/ops    more. → base\nsrc/plan   last. → base ops\n"
             "src/face   shims. → all of the above except plan\n")

    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"docs/style.md": self.STYLE, "src/plan/p.h": "", "src/ops/o.h": "", **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_layers.violations(root)

    def test_list_is_read(self):
        rooms = check_layers.rooms(self.STYLE)
        self.assertEqual(rooms["plan"], {"base", "ops"})
        self.assertEqual(rooms["face"], {"base", "ops"})
        self.assertIsNone(check_layers.cycle(rooms))

    def test_cycle_is_found(self):
        self.assertEqual(check_layers.cycle({"a": {"b"}, "b": {"a"}}), ["a", "b", "a"])

    def test_our_own_list_has_no_cycle(self):
        rooms = check_layers.rooms((ROOT / "docs" / "style.md").read_text())
        self.assertEqual(len(rooms), 18)
        self.assertIsNone(check_layers.cycle(rooms))

    def test_upward_include_is_refused(self):
        found = self.violations({"src/ops/o.c": '#include <stdio.h>\n#include "plan/p.h"\n'})
        self.assertEqual(found, ["src/ops/o.c:2: ops may not include plan/p.h"])

    def test_downward_include_and_comments_are_fine(self):
        self.assertEqual(self.violations({"src/plan/p.c": '#include "ops/o.h"\n/*\n#include "nowhere/x.h"\n*/\n'}), [])

    def test_unknown_names_are_refused(self):
        found = self.violations({"src/ops/o.c": '#include "nowhere/x.h"\n', "examples/c/e.c": '#include "ops/o.h"\n'})
        self.assertEqual(len(found), 2)


class Habits(unittest.TestCase):
    def complaints(self, name, text):
        path = ROOT / name
        real, check_habits.source.ROOT = check_habits.source.ROOT, ROOT
        try:
            class Fake(type(path)):
                def read_text(self, *_):
                    return text
            return list(check_habits.complaints(Fake(path)))
        finally:
            check_habits.source.ROOT = real

    def test_library_code(self):
        self.assertEqual(len(self.complaints("src/ops/x.c", "int f(void) { abort(); }\n")), 1)
        self.assertEqual(len(self.complaints("src/ops/x.c", "void *p = malloc(3);\n")), 1)
        self.assertEqual(self.complaints("src/ops/x.c", 'ef_free(p); d->free(p); x = "printf(1)";\n'), [])
        self.assertEqual(self.complaints("src/ops/x_test.c", "printf(1); malloc(2);\n"), [])

    def test_leftovers(self):
        mark = "TO" + "DO"
        self.assertEqual(len(self.complaints("tests/x.c", f"/* {mark}: more */\n")), 1)
        self.assertEqual(len(self.complaints("tests/x.c", "// x = f(y);\n")), 1)
        self.assertEqual(self.complaints("tests/x.c", "/* Frees x; then y. */\n"), [])


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed, {len(result.skipped)} skipped")
    sys.exit(bad > 0)
