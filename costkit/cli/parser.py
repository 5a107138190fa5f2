"""What may be asked on the command line? The commands, their options, their help, and what a mistyped one meant."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Callable
from typing import Any, NoReturn

from costkit.cli import commands

_EXAMPLES = """\
examples:
  costkit page --plan llama-3-8b                       what a plan costs, how long it takes, what moves that
  costkit frontier --set training.budget_usd=200e3     how big a model, on how much data, for this budget
  costkit memory --plan finetune-7b                    does it fit, part by part and phase by phase
  costkit levers --plan case-50k                       how its bill falls, lever by lever
  costkit claims --verdict wrong                       printed figures that do not come out
  costkit audit --plan case-50k                        what published hours, days and dollars imply
  costkit plan show llama-2-7b                         a plan's values and where each comes from
  costkit plan save case-50k -o mine.toml              a plan of your own, to edit
  costkit report 01 --plan mine.toml -o reports        one offline page, with its tables and figures beside it
  costkit fit runs.csv --bootstrap 1000                a scaling law from your own runs
"""


class UsageError(ValueError):
    """A command line that cannot be understood; the text is one sentence."""


class Parser(argparse.ArgumentParser):
    """argparse, with an error that is one sentence and names what was probably meant."""

    def __init__(self, **options: Any) -> None:
        """Abbreviated options are off: a typo should be told, not guessed."""
        super().__init__(allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        self.names: list[str] = ["--help"]
        self.set_defaults(parser=self)

    def option(self, *flags: str, **about: Any) -> None:
        """Add an argument and remember its names for suggestions."""
        self.names += [flag for flag in flags if flag.startswith("--")]
        self.add_argument(*flags, **about)

    def error(self, message: str) -> NoReturn:
        """Raise the message as a UsageError, with the nearest right word."""
        raise UsageError(f"{_reworded(message, self.names)} (`{self.prog} --help` shows how)")


def _reworded(message: str, names: list[str]) -> str:
    if found := re.match(r"argument (\S+): invalid choice: '(.*?)' \(choose from (.*)\)", message):
        what, given, listed = found.groups()
        options = re.findall(r"[\w./-]+", listed)
        sentence = f"no command {given!r}" if what == "COMMAND" else f"{what} cannot be {given!r}"
        return f"{sentence}.{_meant(given, options) or ' Known: ' + ', '.join(options) + '.'}"
    if found := re.match(r"unrecognized arguments: (\S+)", message):
        given = found[1].partition("=")[0]
        return f"{given!r} is not understood here.{_meant(given, names)}"
    return message


def _meant(given: str, options: list[str]) -> str:
    near = difflib.get_close_matches(given, options, n=1, cutoff=0.5)
    return f" Did you mean {near[0]!r}?" if near else ""


def parse(argv: list[str]) -> argparse.Namespace:
    """The arguments of one command; `run` is the function that does it."""
    root = Parser(
        prog="costkit",
        description="Plan what training a model costs: one plan, every question, each number with its source.",
        epilog=_EXAMPLES,
    )
    root.option("--version", action="store_true", help="print the version and stop")
    root.set_defaults(run=None)
    group = root.add_subparsers(metavar="COMMAND", dest="command", title="commands", parser_class=Parser)
    builders = (
        *(_report, _plan, _page, _frontier, _memory, _spot, _levers, _claims),
        *(_audit, _stall, _scores, _fit, _tables, _notebooks),
    )
    for build in builders:
        build(group)
    arguments, unknown = root.parse_known_args(argv)
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {unknown[0]}")
    if arguments.version:
        arguments.run = commands.version
    if arguments.run is None:
        root.print_help()
        raise SystemExit(0 if not argv else 2)
    return arguments


def _command(group: Any, name: str, run: Callable[[argparse.Namespace], int] | None, about: str, **more: Any) -> Parser:
    parser: Parser = group.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.", **more)
    if run is not None:
        parser.set_defaults(run=run)
    return parser


def _plan_options(parser: Parser, *, positional: bool = False, optional: bool = False) -> None:
    about = "a plan's name, file or token (default: case-50k)"
    if optional:
        parser.option("--plan", metavar="PLAN", help="a plan's name, file or token, for what is not given here")
    elif positional:
        parser.option("plan", nargs="?", default="case-50k", metavar="PLAN", help=about)
    else:
        parser.option("--plan", default="case-50k", metavar="PLAN", help=about)
    parser.option(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="KEY=VALUE",
        help="change one value, e.g. training.budget_usd=250k; may be given again",
    )


def _output_options(parser: Parser, *, csv: bool = True) -> None:
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--json", action="store_true", help="print JSON instead of text")
    if csv:
        chosen.add_argument("--csv", action="store_true", help="print CSV instead of text")
    parser.names += ["--json", "--csv"] if csv else ["--json"]
    _file_options(parser, "write to this file, whole or not at all, instead of printing")


def _file_options(parser: Parser, about: str, *, required: bool = False) -> None:
    parser.option("-o", "--out", dest="file", required=required, metavar="FILE", help=about)
    parser.option("--replace", action="store_true", help="write over the file of -o if there is one already")


def _report(group: Any) -> None:
    epilog = "example:\n  costkit report 01 --plan llama-2-7b --set hardware.n_gpus=64 -o reports"
    parser = _command(group, "report", commands.report, "render notebooks as pages that need no network", epilog=epilog)
    parser.option(
        "notebooks", nargs="*", metavar="NOTEBOOK", help="names, beginnings of names (01) or files; none: all"
    )
    _plan_options(parser)
    parser.option("--pdf", action="store_true", help="write a PDF of each page as well")
    parser.option("-o", "--out", default="reports", metavar="DIR", help="the folder to write to (default: reports)")


def _plan(group: Any) -> None:
    parser = _command(group, "plan", None, "list, show, save and pass on plans")
    actions = parser.add_subparsers(
        metavar="COMMAND", dest="action", required=True, title="commands", parser_class=Parser
    )
    _output_options(_command(actions, "list", commands.plan_list, "the plans that come with costkit"))
    keys = _command(actions, "keys", commands.plan_keys, "the keys that a plan may have, and what each means")
    keys.option("words", nargs="*", metavar="WORD", help="only keys about these words, e.g. deadline")
    _output_options(keys)
    show = _command(actions, "show", commands.plan_show, "a plan's values, their units, and where each comes from")
    _plan_options(show, positional=True)
    _output_options(show)
    token = _command(actions, "token", commands.plan_token, "the whole plan as one line, to paste into a message")
    _plan_options(token, positional=True)
    save = _command(actions, "save", commands.plan_save, "a plan as a TOML file of your own, comments kept")
    _plan_options(save, positional=True)
    _file_options(save, "the file to write", required=True)


def _page(group: Any) -> None:
    about = "a plan on a page: its bill and time, what moves them, and the biggest risk"
    parser = _command(group, "page", commands.page, about)
    _plan_options(parser)
    _output_options(parser)


def _frontier(group: Any) -> None:
    parser = _command(group, "frontier", commands.frontier, "how big a model, on how much data, for this budget")
    _plan_options(parser)
    _output_options(parser)


def _memory(group: Any) -> None:
    parser = _command(group, "memory", commands.memory, "does the plan fit on its GPUs, and when is memory fullest")
    _plan_options(parser)
    for kind in ("allocated", "reserved"):
        about = f"the {kind} peak of a run of this plan: moves the estimate by memory.{kind}_ratio"
        parser.option(f"--measured-{kind}", type=float, metavar="GIB", help=about)
    _output_options(parser)


def _spot(group: Any) -> None:
    parser = _command(
        group, "spot", commands.spot, "what interruptible machines really cost the plan, and when it is done"
    )
    _plan_options(parser)
    _output_options(parser)


def _levers(group: Any) -> None:
    about = "how the plan's run becomes cheaper, lever by lever, and what of a published saving is true"
    epilog = "example:\n  costkit levers --plan case-50k --set 'levers.order=bf16, flash, spot'"
    parser = _command(group, "levers", commands.levers, about, epilog=epilog)
    _plan_options(parser)
    _output_options(parser)


def _claims(group: Any) -> None:
    about = "printed figures about training cost, recomputed, each with a verdict"
    epilog = "examples:\n  costkit claims --verdict wrong\n  costkit claims mine.csv --by id"
    parser = _command(group, "claims", commands.claims, about, epilog=epilog)
    parser.option("claims", nargs="?", metavar="CLAIMS.csv", help="claims of your own: id, kind, inputs, published")
    order = "the most wrong first (off, the default), or by id or source"
    parser.option("--by", choices=("off", "id", "source"), default="off", help=order)
    parser.option(
        "--verdict", action="append", default=[], dest="verdicts", metavar="VERDICT", help="only these; may be repeated"
    )
    _output_options(parser)


_PUBLISHED = {
    "n-params": ("N", "parameters, e.g. 70B"),
    "n-active-params": ("N", "parameters that a token passes through, in a mixture of experts"),
    "n-tokens": ("N", "tokens that the model saw, e.g. 1.4T"),
    "gpu": ("GPU", "the GPU, as `costkit gpus` lists it"),
    "gpu-hours": ("HOURS", "GPU-hours, e.g. 1.3M"),
    "n-gpus": ("N", "GPUs at work at the same time"),
    "days": ("DAYS", "days from start to end"),
    "usd": ("USD", "the bill, e.g. '$50,000'"),
    "usd-per-gpu-hour": ("USD", "the price of a GPU for an hour, or '98.32 per 8-GPU node'"),
    "gpus-per-node": ("N", "GPUs of a node, to find a node's price that was taken for a GPU's (default: 8)"),
    "mfu": ("MFU", "the MFU as published, e.g. 45%% or 0.45"),
    "seq-len": ("TOKENS", "tokens of a sequence, to find attention that was counted"),
    "kind": ("KIND", "decoder, encoder or encoder-decoder (default: decoder)"),
    "precision": ("FORMAT", "number format of the matrix products, e.g. fp8-mixed (default: bf16-mixed)"),
}


def _audit(group: Any) -> None:
    about = "what published figures of a run imply, and what is odd about them"
    epilog = "example:\n  costkit audit --n-params 8B --n-tokens 15T --gpu H100-SXM5-80GB --gpu-hours 1.3M"
    parser = _command(group, "audit", commands.audit, about, epilog=epilog)
    for name, (metavar, meaning) in _PUBLISHED.items():
        dest = "mfu_published" if name == "mfu" else None
        parser.option(f"--{name}", dest=dest, metavar=metavar, help=meaning)
    parser.option("--pretrained", action="store_true", help="the run went on from a trained model")
    _plan_options(parser, optional=True)
    _output_options(parser, csv=False)


def _stall(group: Any) -> None:
    about = "what waiting for input costs, from step times or a GPU log"
    parser = _command(group, "stall", commands.stall, about)
    parser.option("log", nargs="?", metavar="LOG.csv", help="a log of `nvidia-smi --format=csv`, in place of --step")
    parser.option("--step", metavar="SECONDS", help="a whole step, the wait included")
    parser.option("--wait", metavar="SECONDS", help="the part of it in which the GPUs wait for the next batch")
    parser.option("--usd-per-hour", metavar="USD", help="what an hour of the whole job costs")
    parser.option("--work-h", metavar="HOURS", help="how long the whole run takes as it is")
    _plan_options(parser, optional=True)
    _output_options(parser, csv=False)


def _scores(group: Any) -> None:
    about = "how wrong the planner is on published runs"
    _output_options(_command(group, "scores", commands.scores, about))


def _fit(group: Any) -> None:
    about = "fit a scaling law to your own runs: a CSV with the columns params, tokens (or flop) and loss"
    parser = _command(group, "fit", commands.fit, about)
    parser.option("runs", metavar="RUNS.csv", help="the CSV file")
    parser.option(
        "--drop-highest", type=int, default=0, metavar="N", help="leave out the N runs of the highest loss (default: 0)"
    )
    parser.option("--bootstrap", type=int, default=0, metavar="N", help="refit N resamples for ranges (default: 0)")
    parser.option(
        "--hold-out", type=float, metavar="SHARE", help="also fit without the largest runs, e.g. 0.2, and predict them"
    )
    parser.option("--seed", type=int, default=0, help="of the bootstrap's chance (default: 0)")
    _output_options(parser, csv=False)


def _tables(group: Any) -> None:
    _output_options(
        _command(group, "gpus", commands.gpus, "the GPUs: memory, dense peak rates, bandwidth, lowest quotes")
    )
    _output_options(_command(group, "laws", commands.laws, "the scaling laws: coefficients, range, source"))
    quotes = _command(group, "quotes", commands.quotes, "price quotes per GPU-hour, newest first")
    quotes.option("--gpu", metavar="GPU", help="only of this GPU")
    quotes.option("--purchase", metavar="WAY", help="only on_demand, spot, commit_1y or commit_3y")
    quotes.option("--provider", metavar="NAME", help="only of this provider")
    _output_options(quotes)
    _output_options(_command(group, "sources", commands.sources, "where the numbers come from"))


def _notebooks(group: Any) -> None:
    parser = _command(
        group, "notebooks", commands.notebooks, "run the workbook's notebooks again and store their outputs"
    )
    parser.option(
        "notebooks", nargs="*", metavar="NOTEBOOK", help="names, beginnings of names (01) or files; none: all"
    )
    parser.option("--check", action="store_true", help="write nothing; fail where the stored outputs differ")
