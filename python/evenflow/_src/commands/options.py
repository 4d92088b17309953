"""Parsers of command lines. `--help`, the manual page and shell completion are all generated from the parser of a command.
An invalid command line is reported in one line, with a suggestion."""
import argparse
import difflib
import sys


class Parser(argparse.ArgumentParser):
    """An argument parser with examples: pairs of a command line and what it does."""

    def __init__(self, prog, description, examples=()):
        self.examples = list(examples)
        wide = max((len(line) for line, _ in self.examples), default=0)
        epilog = "\n".join(["examples:", *(f"  {line:{wide}}  {what}" for line, what in self.examples)]) if self.examples else None
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        needed = "the following arguments are required: "
        if message.startswith(needed):  # argparse also lists the rest of the line, which may be empty
            message = needed + message.removeprefix(needed).removesuffix(", ARGUMENT")
        options = [o for action in self._actions for o in action.option_strings]
        for word in message.split():
            word = word.split("=")[0].strip(":,'\"")
            close = difflib.get_close_matches(word, options, 1) if word.startswith("--") and word not in options else []
            if close:
                message += f"; did you mean {close[0]}?"
                break
        print(f"{self.prog}: {message} (see {self.prog} --help)", file=sys.stderr)
        raise SystemExit(2)
