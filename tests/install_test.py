#!/usr/bin/env python3
"""The installed library: it exports ef_ names only, and a program finds it through pkg-config."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("EF_BUILD_DIR", "build")).resolve()
PROGRAM = """#include <evenflow.h>
#include <stdio.h>
int main(void) { return puts(ef_dtype_name(EF_F32)) < 0 || ef_status_code(NULL) != EF_OK; }
"""


def output(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.folder.name)
        output("cmake", "--install", str(BUILD), "--prefix", str(cls.prefix))
        cls.lib = next(cls.prefix.rglob("libevenflow.so")).parent
        (cls.prefix / "p.c").write_text(PROGRAM)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def build_and_run(self, *options):
        flags = output("pkg-config", "--cflags", *options, "evenflow",
                       env={**os.environ, "PKG_CONFIG_PATH": str(self.lib / "pkgconfig")}).split()
        program = self.prefix / "p"
        output("cc", "-std=c11", str(self.prefix / "p.c"), "-o", str(program), *flags)
        return output(str(program), env={**os.environ, "LD_LIBRARY_PATH": str(self.lib)})

    def test_exports(self):
        listed = output("nm", "-D", "--defined-only", str(self.lib / "libevenflow.so"))
        names = [line.split()[-1] for line in listed.splitlines()]
        self.assertTrue(names)
        self.assertEqual([n for n in names if not n.startswith("ef_")], [])

    def test_shared(self):
        self.assertEqual(self.build_and_run("--libs").strip(), "float32")

    def test_static(self):
        (self.lib / "libevenflow.so").rename(self.lib / "hidden.so")
        try:
            self.assertEqual(self.build_and_run("--libs", "--static").strip(), "float32")
        finally:
            (self.lib / "hidden.so").rename(self.lib / "libevenflow.so")


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - bad - len(result.skipped)} passed, {bad} failed, {len(result.skipped)} skipped")
    sys.exit(bad > 0)
