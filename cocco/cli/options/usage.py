"""A command line that contradicts itself: the parser that says so in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn


class UsageError(ValueError):
    """A command line that contradicts itself or lacks something: the message names the option and the rule."""


MOST_USED = tuple(
    "--hardware --shared-buffer --global-buffer --weight-buffer --verify --explain --shared --separate --alpha "
    "--minimize --limit --objectives --metric --effort --output --json --c --method --keep --batch --range --least "
    "--picture --order --phase --length".split()
)  #: options of all commands, those first that are asked for most; our choice
SHOWN = 10  #: that --help has of a command's options, those that are required and then by MOST_USED; our choice
NEAREST_SHARE = 0.75  #: share of letters that a word and the one that is meant have in common; our choice


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a question after the known word that is meant by another; nothing where none is near.

    Examples
    --------
    >>> nearest("explor", ["explore", "pareto"])
    "; did you mean 'explore'?"
    """
    close = get_close_matches(word.lower(), list(known), n=1, cutoff=NEAREST_SHARE)
    return f"; did you mean {close[0]!r}?" if close else ""


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and exit, and asks after the nearest known word.

    --help has examples and the options that are used most, --help-all all options under the headings of their groups.
    """

    def __init__(self, *words: Any, examples: Sequence[str] = (), **more: Any) -> None:
        super().__init__(*words, **more)
        self.examples = examples
        self.add_argument("--help-all", action=HelpAll, dest="help", nargs=0, help="show all options and exit")

    def add_argument_group(self, *words: Any, **more: Any) -> argparse._ArgumentGroup:
        """Return the group of this title, which several functions may fill."""
        same = (group for group in self._action_groups if words and group.title == words[0])
        return next(same, None) or super().add_argument_group(*words, **more)

    def format_help(self, is_whole: bool = False) -> str:
        """Return purpose, examples, what the command takes, and its most used options; is_whole: or all."""
        told = [each for each in self._get_optional_actions() if each.help != argparse.SUPPRESS and each.dest != "help"]
        most = told if is_whole or len(told) <= SHOWN else sorted(told, key=_rank)[:SHOWN]
        words, first, last = self._get_positional_actions(), self._get_formatter(), self._get_formatter()
        first.add_usage(None, [*words, *(each for each in told if each.required)], [])
        usage = f"{first.format_help().rstrip()}{' [options]' if told else ''}\n"
        first = self._get_formatter()
        first.add_text(self.description)
        examples = "\n".join(["", "examples:", *(f"  {each}" for each in self.examples), ""]) if self.examples else ""
        parts: list[tuple[str | None, str | None, list[argparse.Action]]]
        parts = [("most used options" if most != told else "options", None, most)]
        if is_whole:
            parts = [(group.title, group.description, group._group_actions) for group in self._action_groups]
        parts = [(title, text, [each for each in actions if each in told]) for title, text, actions in parts]
        for title, text, actions in [("what it takes", None, words), *parts]:
            last.start_section(title)
            last.add_text(text)
            last.add_arguments(actions)
            last.end_section()
        if len(most) < len(told):
            last.add_text(f"All {len(told)} options, under headings: '{self.prog} --help-all'.")
        last.add_text(self.epilog)
        return f"{usage}\n{first.format_help()}{examples}\n{last.format_help()}"

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)

    def parse_args(  # type: ignore[override]  # the namespaces are argparse's own
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> argparse.Namespace:
        """Parse, and name what is not understood."""
        found, left = self.parse_known_args(args, namespace)
        if left:
            hint = self._hint(left[0].partition("=")[0], list(sys.argv[1:] if args is None else args), found)
            self.error(f"unrecognized arguments: {' '.join(left)}{hint}")
        return found

    def _hint(self, word: str, words: Sequence[str], found: argparse.Namespace) -> str:
        """Return what may be meant by a word that no option takes: an option, or one more value of the one before."""
        options = self._options_of(found)
        if word.startswith("--"):
            return nearest(word, (name for name, action in options.items() if action.help != argparse.SUPPRESS))
        before = [each.partition("=")[0] for each in words[: words.index(word)] if each.startswith("-")]
        last = options.get(before[-1]) if before else None
        return f"; {before[-1]} takes one value" if last is not None and last.nargs is None else ""

    def _options_of(self, found: argparse.Namespace) -> dict[str, argparse.Action]:
        """Return the options of this parser and of the command that was chosen, by their spellings."""
        named = {word: action for action in self._actions for word in action.option_strings}
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                chosen = action.choices.get(getattr(found, action.dest))
                named |= chosen._options_of(found) if chosen is not None else {}
        return named

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print, where argparse would hide that it cannot."""
        if message:
            print(message, end="", file=file, flush=True)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a word that is none of the choices."""
        if action.choices is not None and value not in action.choices:
            known, rule = ", ".join(map(str, action.choices)), nearest(str(value), map(str, action.choices))
            if isinstance(action, argparse._SubParsersAction):
                raise UsageError(f"unknown command {value!r}{rule or ';'} known are {known}")
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}{rule} (choose from {known})")

    def parse_known_args(  # type: ignore[override]  # the namespaces are argparse's own
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse, and give an optional word that follows options, which argparse leaves, its place."""
        found, left = super().parse_known_args(args, namespace)
        for action in self._get_positional_actions():
            if action.nargs == "?" and getattr(found, action.dest) is None and left and not left[0].startswith("-"):
                setattr(found, action.dest, left.pop(0))
        return found, left


def _rank(action: argparse.Action) -> tuple[bool, int]:
    """Return what sorts the options of a command by how much they are used."""
    name = max(action.option_strings, key=len)
    return not action.required, MOST_USED.index(name) if name in MOST_USED else len(MOST_USED)


class HelpAll(argparse.Action):
    """Prints all options of a command under their headings and ends."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        assert isinstance(parser, Parser)
        parser._print_message(parser.format_help(is_whole=True))
        parser.exit()


class Old(argparse.Action):
    """An earlier spelling of an option: it works as before, and says on stderr how it is spelled now."""

    def __init__(self, option_strings: Sequence[str], dest: str, instead: str, **more: Any) -> None:
        super().__init__(option_strings, dest, help=argparse.SUPPRESS, **more)
        self.instead = instead

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        old_spelling(str(option), self.instead)
        setattr(namespace, self.dest, self.const if self.nargs == 0 else values)


_old: list[tuple[str, str]] = []  #: spellings of this command line that are said when it is answered


def old_spelling(option: str, instead: str) -> None:
    """Remember to say how an option is spelled now."""
    _old.append((option, instead))


def say_old_spellings(are_said: bool = True) -> None:
    """Say on stderr how options are spelled now; where the command line is malformed, that alone is said."""
    for option, instead in dict.fromkeys(_old) if are_said else ():
        print(f"cocco: note: {option} is deprecated in this command; it is {instead} now", file=sys.stderr)
    _old.clear()


class Version(argparse.Action):
    """Looks up the version only on request, because that takes longer than parsing."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from cocco.candidates.code import version

        print(f"cocco {version('cocco')}")
        parser.exit()
