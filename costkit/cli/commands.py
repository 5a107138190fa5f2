"""What does each command do? One short function a command: arguments in, text out, exit status back.

Libraries load inside the functions, so that `costkit --help` stays quick.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from costkit.cli.output import Rows, csv_text, deliver, emit, json_text, say, table

if TYPE_CHECKING:
    from costkit.plan import Footprint, Frontier, Page, Plan, Replan, Savings


def version(arguments: Namespace) -> int:
    """Print the version."""
    from importlib import metadata

    del arguments
    try:
        number = metadata.version("costkit")
    except metadata.PackageNotFoundError:
        number = "(not installed: running from a checkout)"
    say(f"costkit {number}\n")
    return 0


def _read_plan(arguments: Namespace) -> Plan:
    from costkit import plan

    return plan.read(arguments.plan, plan.parse_overrides(arguments.overrides))


def report(arguments: Namespace) -> int:
    """Render notebooks with a plan."""
    from pathlib import Path

    from costkit import plan, report

    if not arguments.out.strip():
        raise ValueError("--out needs the name of a folder, not an empty one")
    overrides = plan.parse_overrides(arguments.overrides)
    plan.read(arguments.plan, overrides)
    notebooks = [report.find(name) for name in arguments.notebooks or report.names()]
    for notebook in notebooks:
        for path in report.render(
            notebook, plan=arguments.plan, overrides=overrides, out_dir=Path(arguments.out), pdf=arguments.pdf
        ):
            say(f"{path}\n")
    return 0


def notebooks(arguments: Namespace) -> int:
    """Run the stored notebooks again; with --check only say which would change."""
    from costkit import report

    changed = 0
    for name in arguments.notebooks or report.names():
        same = report.normalise(name, check=arguments.check)
        changed += not same
        state = "unchanged" if same else "differs from what is stored" if arguments.check else "stored anew"
        say(f"{name}: {state}\n")
    return 1 if arguments.check and changed else 0


def plan_list(arguments: Namespace) -> int:
    """Print the packaged plans with their titles."""
    from costkit import plan

    emit(arguments, [{"name": name, "title": plan.read(name).title} for name in plan.names()], ("Plan", "What it is"))
    return 0


def plan_keys(arguments: Namespace) -> int:
    """Print the keys that a plan may have: unit, default and meaning; with words, those that are about them."""
    from costkit import plan

    wanted = [word.casefold() for word in arguments.words]
    rows = [
        {"key": key, "unit": field.unit, "default": field.default, "meaning": field.help}
        for key, field in plan.fields().items()
        if all(word in f"{key} {field.label} {field.help}".casefold() for word in wanted)
    ]
    if not rows:
        raise ValueError(f"no key of a plan is about {' '.join(arguments.words)!r}; `costkit plan keys` lists all")
    emit(arguments, rows)
    return 0


def plan_show(arguments: Namespace) -> int:
    """Print a plan's effective inputs."""
    from costkit import plan

    chosen = _read_plan(arguments)
    rows = [
        {
            "key": row.key,
            "label": row.label,
            "value": chosen.value(row.key),
            "value_text": row.value_text,
            "unit": row.unit,
            "source": row.source,
            "as_of": row.as_of,
            "basis": row.basis,
            "note": row.note,
        }
        for row in plan.inputs(chosen)
    ]
    if arguments.json or arguments.csv:
        emit(arguments, rows)
        return 0
    shown = [(row.key, row.value_text, row.unit, row.basis, row.as_of, row.source) for row in plan.inputs(chosen)]
    headings = ("Key", "Value", "Unit", "Basis", "As of", "Source")
    lines = table(headings, shown, cut=arguments.file is None)
    deliver(arguments, f"{chosen.title or chosen.name}\n\n{lines}\n")
    return 0


def plan_token(arguments: Namespace) -> int:
    """Print a plan as one line."""
    say(f"{_read_plan(arguments).token()}\n")
    return 0


def plan_save(arguments: Namespace) -> int:
    """Write a plan to a file."""
    say(f"{_read_plan(arguments).save(arguments.file)}\n")
    return 0


def page(arguments: Namespace) -> int:
    """Print the plan on a page: what it costs line by line, how long it takes, what moves that, and the risk."""
    import dataclasses

    from costkit import plan
    from costkit.units import usd

    answer = plan.page(_read_plan(arguments))
    billed = [(line.name, line.usd, line.basis) for line in answer.lines if line.is_planned]
    cells = [
        (name, usd(of.low), usd(of.mid), usd(of.high), basis)
        for name, of, basis in (*billed, ("Whole", answer.usd, ""))
    ]
    bill = table(("Bill", "low", "middle", "high", "basis"), cells, cut=arguments.file is None)
    sentences = {name: getattr(answer, name) for name in ("drivers", "risk", "rules_of_thumb", "programme")}
    swings = [dataclasses.asdict(swing) for swing in answer.swings]
    return _told(arguments, answer, [bill, *sentences.values()], {**sentences, **answer.numbers(), "swings": swings})


def frontier(arguments: Namespace) -> int:
    """Print the frontier's answer for a plan: the sentence, the key numbers, or the table behind the picture."""
    from costkit import plan

    return _told(arguments, plan.frontier(_read_plan(arguments)))


def memory(arguments: Namespace) -> int:
    """Print the memory of a plan: whether it fits, the key numbers, or bytes by phase and part."""
    from costkit import plan

    chosen = _read_plan(arguments)
    if (arguments.measured_allocated, arguments.measured_reserved) != (None, None):
        chosen = plan.fitting.measured(
            chosen, allocated_gib=arguments.measured_allocated, reserved_gib=arguments.measured_reserved
        )
    answer = plan.footprint(chosen)
    phases = answer.phase_table()
    cells = [[str(cell) for cell in row.values()] for row in phases]
    details = table(list(phases[0]), cells, cut=arguments.file is None)
    return _told(arguments, answer, [details, answer.reading, answer.way_out], answer.numbers())


def spot(arguments: Namespace) -> int:
    """Print what a plan costs on spot and on demand: the sentence, the key numbers, where the money goes."""
    from costkit import plan
    from costkit.plan.buying.words import share
    from costkit.units import usd

    answer = plan.savings(_read_plan(arguments))
    parts = answer.parts_usd()
    whole = sum(parts.values())
    cells = [(name, usd(amount), share(amount / whole)) for name, amount in parts.items() if amount]
    details = table(("Mean bill on spot", "", ""), cells, cut=arguments.file is None) if cells else ""
    sentences = [answer.how_often_to_save, answer.where_it_pays]
    return _told(arguments, answer, [text for text in (details, *sentences) if text], answer.numbers())


def _told(
    arguments: Namespace,
    answer: Frontier | Footprint | Page | Replan | Savings,
    details: Sequence[str] = (),
    numbers: Mapping[str, object] = MappingProxyType({}),
) -> int:
    """Print what an answer says, in the form that was asked for; `details` and `numbers` are text and JSON on top."""
    if arguments.csv:
        text = csv_text(answer.rows())
    elif arguments.json:
        facts, warnings = dict(answer.facts), list(answer.warnings)
        told = {"headline": answer.headline, "facts": facts, "warnings": warnings}
        text = json_text({**told, **numbers, "rows": answer.rows()})
    else:
        facts_text = table(("", ""), answer.facts, cut=arguments.file is None)
        text = "\n\n".join([answer.headline, facts_text, *details, *answer.warnings]) + "\n"
    deliver(arguments, text)
    return 0


def audit(arguments: Namespace) -> int:
    """Print what published figures of a run imply, and what is odd about them."""
    from costkit.cli.auditing import audited

    deliver(arguments, audited(arguments))
    return 0


def stall(arguments: Namespace) -> int:
    """Print what waiting for input costs, from step times or from a GPU log."""
    from costkit.cli.stalling import stalled

    deliver(arguments, stalled(arguments))
    return 0


def scores(arguments: Namespace) -> int:
    """Print how wrong the planner is on published runs."""
    from costkit.cli import scoring

    if arguments.csv:
        deliver(arguments, csv_text(scoring.rows()))
    else:
        deliver(arguments, scoring.as_json() if arguments.json else scoring.as_text(cut=arguments.file is None))
    return 0


def claims(arguments: Namespace) -> int:
    """Print what was claimed beside what comes out here, each with its verdict."""
    from costkit.cli import claiming

    found = claiming.found(arguments)
    if arguments.csv or arguments.json:
        emit(arguments, claiming.rows(found))
    else:
        deliver(arguments, claiming.as_text(found, cut=arguments.file is None))
    return 0


def levers(arguments: Namespace) -> int:
    """Print how a plan becomes cheaper: the bill after each lever, what remains, how likely the published end is."""
    from costkit import plan
    from costkit.units import usd

    answer = plan.replan(_read_plan(arguments))
    cells = [
        (answer.label(step.name), usd(step.saved_usd.mid), usd(step.usd.low), usd(step.usd.mid), usd(step.usd.high))
        for step in (answer.waterfall.steps if answer.waterfall else ())
    ]
    headings = ("Lever", "saves", "bill after it: low", "middle", "high")
    steps = table(headings, cells, cut=arguments.file is None) if cells else ""
    sentences = {name: getattr(answer, name) for name in ("time", "order_told", "odds", "remaining", "arithmetic")}
    details = [text for text in (steps, *sentences.values()) if text]
    return _told(arguments, answer, details, {**sentences, **answer.numbers()})


def gpus(arguments: Namespace) -> int:
    """Print the GPU table."""
    from costkit.cli.listings import gpu_rows

    emit(arguments, gpu_rows())
    return 0


def laws(arguments: Namespace) -> int:
    """Print the scaling laws."""
    from costkit.cli.listings import law_rows

    emit(arguments, law_rows())
    return 0


def quotes(arguments: Namespace) -> int:
    """Print the price quotes that match."""
    from costkit import tables

    found = tables.quotes(gpu=arguments.gpu, purchase=arguments.purchase, provider=arguments.provider)
    columns = ("usd_per_gpu_hour", "gpu", "provider", "purchase", "instance_type", "region", "zone", "as_of", "source")
    rows: Rows = [{name: getattr(quote, name) for name in columns} for quote in found]
    emit(arguments, rows)
    return 0


def sources(arguments: Namespace) -> int:
    """Print the sources of all numbers."""
    from costkit import tables

    columns = ("key", "year", "authors", "title", "url")
    emit(arguments, [{name: getattr(entry, name) for name in columns} for entry in tables.sources().values()])
    return 0


def fit(arguments: Namespace) -> int:
    """Fit a law to a CSV of runs and print what it says and how far to trust it."""
    from costkit.cli.fitting import fitted

    text = fitted(
        arguments.runs,
        n_dropped=arguments.drop_highest,
        n_bootstrap=arguments.bootstrap,
        held_out_fraction=arguments.hold_out,
        seed=arguments.seed,
        as_json=arguments.json,
    )
    deliver(arguments, text)
    return 0
