from __future__ import annotations

import contextlib
import math
import re
import warnings
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from costkit import reading
from costkit.training.smi_logs import SmiLog, read_smi_log
from costkit.training.stalls import Stall, stall, stall_from_log
from costkit.units import DAY, HOUR, MIB

START = datetime.fromisoformat("2024-05-01T12:00:00.123")
HEADER = "timestamp, index, utilization.gpu [%], power.draw [W], memory.used [MiB]"

seconds = st.floats(1e-6, 1e6)
fraction = st.floats(0, 1, exclude_max=True)
percents = st.lists(st.integers(0, 100), min_size=2, max_size=30)


def stamp(time_s: float) -> str:
    """A time as nvidia-smi writes it, counted from the start of the test logs."""
    return (START + timedelta(seconds=time_s)).strftime("%Y/%m/%d %H:%M:%S.%f")[:-3]


def rows(*gpus: Sequence[int | str], every_s: float = 1.0) -> list[str]:
    """The lines of a log, a GPU's utilisations each; the GPUs of a query follow one another by 2 ms."""
    return [
        f"{stamp(i * every_s + 0.002 * gpu)}, {gpu}, {use}{'' if isinstance(use, str) else ' %'}, "
        f"{300 + gpu}.50 W, {1000 * (gpu + 1) + i} MiB"
        for i, uses in enumerate(zip(*gpus, strict=True))
        for gpu, use in enumerate(uses)
    ]


def saved(folder: Path, content: str | list[str], name: str = "gpus.csv") -> Path:
    """A log as a file: a list of lines gets its header and its last end of line."""
    file = folder / name
    text = content if isinstance(content, str) else "\n".join([HEADER, *content, ""])
    file.write_text(text, encoding="utf-8", newline="")
    return file


def read(folder: Path, content: str | list[str]) -> SmiLog:
    """What is read of such a file."""
    return read_smi_log(saved(folder, content))


def steps(waiting: int, of: int = 100) -> list[int]:
    """A run of busy samples, of which some in its middle are empty."""
    return [100] * (of - waiting - 1) + [0] * waiting + [100]


def test_a_stall_costs_its_share_of_the_bill() -> None:
    """A wait of 18% takes 18% of the run's days and dollars, and fixing it makes the run 1 / 0.82 times as fast."""
    found = stall(step_s=2.0, loader_wait_s=0.36, usd_per_hour=100.0, work_s=10 * DAY)
    assert found.saved_s == pytest.approx(1.8 * DAY)
    assert found.usd == pytest.approx(0.18 * 100 * 240)
    assert found.speedup == pytest.approx(1 / 0.82)


def test_what_was_not_given_is_none() -> None:
    """Without the length of the run there are neither days nor dollars to be had back."""
    found = stall(step_s=2.0, loader_wait_s=0.5, usd_per_hour=100.0)
    assert (found.waiting_fraction, found.saved_s, found.usd) == (0.25, None, None)


@pytest.mark.parametrize(
    ("given_more", "most"),
    [
        ({}, "at most 1.22 times the speed can be had"),
        ({"usd_per_hour": 98.0}, "at most $18 of each hour's bill can be had back"),
        ({"work_s": 18 * DAY}, "at most 3.24 days of this run can be had back"),
        ({"work_s": 18 * DAY, "usd_per_hour": 98.0}, "at most $7,620 and 3.24 days of this run can be had back"),
    ],
)
def test_the_sentence_says_what_can_be_had_back(given_more: dict[str, float], most: str) -> None:
    """The ceiling is told in what was given: speed, an hour's dollars, days, or dollars and days."""
    found = stall(step_s=1.25, loader_wait_s=0.225, **given_more)
    assert found.sentence == f"GPUs wait for input in 18% of each step: {most} by fixing it."


@given(step_s=seconds, share=fraction, usd_per_hour=st.floats(0.01, 1e6), work_s=seconds)
@example(step_s=1.0, share=float(np.nextafter(1, 0)), usd_per_hour=3.1, work_s=86_399.7)
def test_a_stall_never_exceeds_the_bill(step_s: float, share: float, usd_per_hour: float, work_s: float) -> None:
    """Nothing that is waited away can cost more than the whole run, in time or in dollars."""
    found = stall(step_s=step_s, loader_wait_s=step_s * share, usd_per_hour=usd_per_hour, work_s=work_s)
    assert found.saved_s is not None
    assert found.usd is not None
    assert 0 <= found.saved_s <= work_s
    assert 0 <= found.usd <= work_s / HOUR * usd_per_hour


@given(step_s=seconds, share=fraction)
def test_speedup_undoes_the_wait(step_s: float, share: float) -> None:
    """The time that is left, times the speedup, is the whole again."""
    found = stall(step_s=step_s, loader_wait_s=step_s * share)
    assert found.speedup * (1 - found.waiting_fraction) == pytest.approx(1, rel=1e-12)


@given(step_s=seconds, usd_per_hour=seconds, work_s=seconds)
def test_no_wait_costs_nothing(step_s: float, usd_per_hour: float, work_s: float) -> None:
    """A loader that keeps up leaves nothing to be had back."""
    found = stall(step_s=step_s, loader_wait_s=0, usd_per_hour=usd_per_hour, work_s=work_s)
    assert (found.waiting_fraction, found.speedup, found.saved_s, found.usd) == (0, 1, 0, 0)
    assert found.sentence.endswith("nothing can be had back by loading it faster.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"loader_wait_s": 120.0},
            "below step_s (1.2 seconds), of which it is a part, not 120: it looks like milliseconds, write 0.12.",
        ),
        ({"loader_wait_s": 1.3}, "not 1.3: loading beside the GPUs' work is no wait; give the time that next(loader)"),
        ({"loader_wait_s": 1.2}, "loader_wait_s must be below step_s (1.2 seconds), of which it is a part, not 1.2"),
        ({"loader_wait_s": -0.1}, "loader_wait_s must be a finite number of seconds, zero or more, not -0.1"),
        ({"loader_wait_s": "0.1"}, "loader_wait_s must be a finite number of seconds, zero or more, not '0.1'"),
        ({"step_s": 0}, "step_s must be a positive, finite number of seconds, not 0"),
        ({"step_s": math.nan}, "step_s must be a positive, finite number of seconds, not nan"),
        ({"step_s": np.array([1.0, 2.0])}, "step_s must be one number, not an array of 2; give the mean."),
        ({"usd_per_hour": 0}, "usd_per_hour must be a positive, finite number of USD per hour, not 0"),
        ({"work_s": math.inf}, "work_s must be a positive, finite number of seconds, not inf"),
    ],
)
def test_what_is_no_stall_gets_one_sentence(arguments: dict[str, float], sentence: str) -> None:
    """Each slip is named with what was given, what is allowed and, where it can be guessed, the way out."""
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        stall(**{"step_s": 1.2, "loader_wait_s": 0.1, **arguments})
    assert "\n" not in str(caught.value)


def test_a_log_is_summed_up(tmp_path: Path) -> None:
    """Counts, times, means and peaks of a small log are those that can be worked out by hand."""
    log = read(tmp_path, rows([100, 50, 0, 90], [80, 60, 4, 100], every_s=2.0))
    assert (log.n_gpus, log.start, log.interval_s) == (2, START, 2.0)
    assert log.duration_s == pytest.approx(8.002)
    assert log.busy_fraction == pytest.approx((240 + 244) / 800)
    assert log.idle_fraction == 2 / 8
    assert log.mean_watts == pytest.approx(301.0)
    assert log.peak_used_bytes == 2003 * MIB
    assert log.warnings == ()


def test_each_gpu_has_a_row(tmp_path: Path) -> None:
    """The table by GPU says which one is the idle one."""
    first, second = read(tmp_path, rows([100, 50, 0, 90], [80, 60, 4, 100])).gpus
    assert (first.gpu, first.n_samples, second.gpu) == ("0", 4, "1")
    assert [first.busy_fraction, second.busy_fraction] == pytest.approx([0.60, 0.61])
    assert [first.mean_watts, second.mean_watts] == [300.5, 301.5]
    assert [first.peak_used_bytes, second.peak_used_bytes] == [1003 * MIB, 2003 * MIB]


@given(first=percents, every_s=st.sampled_from([0.1, 1.0, 5.0]), data=st.data())
def test_a_log_comes_back_as_written(
    tmp_path_factory: pytest.TempPathFactory, first: list[int], every_s: float, data: st.DataObject
) -> None:
    """Utilisation, power, memory and times of a file are those of the log."""
    second = data.draw(st.lists(st.integers(0, 100), min_size=len(first), max_size=len(first)))
    log = read(tmp_path_factory.mktemp("log"), rows(first, second, every_s=every_s))
    assert [gpu.n_samples for gpu in log.gpus] == [len(first)] * 2
    assert [gpu.busy_fraction for gpu in log.gpus] == pytest.approx([np.mean(first) / 100, np.mean(second) / 100])
    assert log.busy_fraction == pytest.approx(np.mean(first + second) / 100)
    assert log.idle_fraction == pytest.approx(np.mean(np.array(first + second) < 5))
    assert log.start == START
    assert log.interval_s == pytest.approx(every_s)
    assert log.mean_watts == pytest.approx(301)
    assert log.peak_used_bytes == (2000 + len(first) - 1) * MIB


@given(uses=percents, order=st.permutations([0, 1, 2, 3, 4]), has_units=st.booleans())
def test_columns_come_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, uses: list[int], order: list[int], has_units: bool
) -> None:
    """The order of the columns and `nounits` change nothing."""
    folder = tmp_path_factory.mktemp("log")
    lines = [line.split(", ") for line in [HEADER, *rows(uses)]]
    for unit in () if has_units else (" %", " W", " MiB"):
        lines[1:] = [[cell.removesuffix(unit) for cell in line] for line in lines[1:]]
    text = "".join(", ".join(line[i] for i in order) + "\n" for line in lines)
    assert read(folder, text) == read(folder, rows(uses))


def test_power_and_memory_may_be_missing(tmp_path: Path) -> None:
    """Without the columns, or with [N/A] in them, the means and peaks are None."""
    bare = read(tmp_path, f"timestamp, utilization.gpu [%]\n{stamp(0)}, 90 %\n{stamp(1)}, 70 %\n")
    empty = read(tmp_path, "\n".join([HEADER, *(f"{stamp(i)}, 0, 90 %, [N/A], [Not Supported]" for i in (0, 1)), ""]))
    assert (bare.mean_watts, bare.peak_used_bytes) == (None, None)
    assert (empty.mean_watts, empty.peak_used_bytes, empty.gpus[0].mean_watts) == (None, None, None)


@pytest.mark.parametrize("column", ["power.draw.average [W]", "power.draw.instant [W]"])
def test_newer_names_of_power_are_read(tmp_path: Path, column: str) -> None:
    """Newer drivers tell two kinds of power draw."""
    text = "\n".join([HEADER.replace("power.draw [W]", column), *rows([90, 90]), ""])
    assert read(tmp_path, text).mean_watts == pytest.approx(300.5)


def test_a_sample_counts_for_the_time_since_the_one_before(tmp_path: Path) -> None:
    """Where the log slows down, each of its samples stands for more time."""
    lines = [f"{stamp(t)}, 0, {use} %, 300 W, 1 MiB" for t, use in [(0, 100), (1, 100), (2, 100), (5, 20)]]
    assert read(tmp_path, lines).busy_fraction == pytest.approx((3 * 1.0 + 3 * 0.2) / 6)


def test_a_hole_in_the_log_does_not_count(tmp_path: Path) -> None:
    """Two hours in which nothing was logged are neither busy nor stalled, and are told."""
    lines = [f"{stamp(t)}, 0, {use} %, 300 W, 1 MiB" for t, use in [(0, 100), (1, 100), (7201, 60), (7202, 60)]]
    log = read(tmp_path, lines)
    assert log.busy_fraction == pytest.approx(0.8)
    assert "nothing is written down for up to 2.00 hours at a time" in log.warnings[0]


def test_start_up_is_trimmed(tmp_path: Path) -> None:
    """What comes before the first busy sample and after the last is counted apart, and is no stall."""
    log = read(tmp_path, rows([0] * 20 + [49] + steps(18) + [0] * 10))
    assert log.trimmed_s == pytest.approx(31)
    assert log.stalled_fraction == pytest.approx(0.18)
    assert log.busy_fraction == pytest.approx((82 + 0.49) / 131)


def test_nothing_is_trimmed_of_a_log_that_is_never_busy(tmp_path: Path) -> None:
    """Where no sample reaches half, a badly starved run can't be told from start-up, so all of it counts."""
    log = read(tmp_path, rows([0, 40, 20, 40, 0]))
    assert [log.trimmed_s, log.stalled_fraction] == pytest.approx([0, 0.8])
    assert "no sample reaches 50%" in log.warnings[0]


@given(uses=percents)
def test_the_stalled_share_is_a_share(tmp_path_factory: pytest.TempPathFactory, uses: list[int]) -> None:
    """Whatever the log, the stall is from 0 to 1, and no more is trimmed than there is."""
    log = read(tmp_path_factory.mktemp("log"), rows(uses))
    assert 0 <= log.stalled_fraction <= 1
    assert 0 <= log.trimmed_s <= log.duration_s


def test_a_gpu_that_is_not_used_does_not_stall(tmp_path: Path) -> None:
    """An empty GPU beside the run lowers the log's mean, and is told, but input has no part in it."""
    log = read(tmp_path, rows(steps(20), [0] * 100))
    assert [log.busy_fraction, log.stalled_fraction] == pytest.approx([0.4, 0.2])
    assert log.warnings == ("'gpus.csv': nothing runs on GPU 1; no stall is counted there.",)


def test_uneven_gpus_are_told(tmp_path: Path) -> None:
    """A GPU that waits for another's input counts as busy, so a mean over uneven GPUs is in doubt."""
    log = read(tmp_path, rows([60] * 9, [98] * 9, [97] * 9))
    assert "GPU 0 is busy for 60% of the time, GPU 1 for 98%; GPUs that wait for another" in log.warnings[0]


def test_rows_of_one_query_are_one_gpu_each(tmp_path: Path) -> None:
    """Without a column that tells GPUs apart, rows within milliseconds are as many GPUs, and that is told."""
    lines = [line.replace(", 0,", ",").replace(", 1,", ",") for line in rows([90] * 20, [70] * 20)]
    log = read(tmp_path, "\n".join([HEADER.replace(" index,", ""), *lines, ""]))
    assert [gpu.busy_fraction for gpu in log.gpus] == pytest.approx([0.9, 0.7])
    assert "the 2 rows of each query are taken for 2 GPUs" in log.warnings[0]


@pytest.mark.parametrize("n_gpus", [1, 2, 8])
def test_the_same_time_is_one_query(tmp_path: Path, n_gpus: int) -> None:
    """As many GPUs are there as rows have the same time."""
    lines = [f"{stamp(i)}, {80 + i} %" for i in range(9) for _ in range(n_gpus)]
    assert read(tmp_path, "\n".join(["timestamp, utilization.gpu [%]", *lines, ""])).n_gpus == n_gpus


def test_the_column_that_tells_most_gpus_apart_is_taken(tmp_path: Path) -> None:
    """Logs of two machines in one file have each index twice, but every uuid once."""
    header = "timestamp, index, uuid, utilization.gpu [%]"
    lines = [f"{stamp(i)}, 0, GPU-{uuid}, {use} %" for uuid, use in (("a", 90), ("b", 70)) for i in range(5)]
    log = read(tmp_path, "\n".join([header, *lines, ""]))
    assert {gpu.gpu: gpu.busy_fraction for gpu in log.gpus} == pytest.approx({"GPU-a": 0.9, "GPU-b": 0.7})


def test_gpus_are_in_order_of_their_number(tmp_path: Path) -> None:
    """GPU 10 comes after GPU 9."""
    assert [gpu.gpu for gpu in read(tmp_path, rows(*[[90, 90]] * 12)).gpus] == [str(i) for i in range(12)]


@pytest.mark.parametrize("kept", [",", "2024/05/01 12:0", "2024/05/01 12:00:03.123, 0, 9", "{all}"])
def test_a_last_line_that_is_cut_off_is_passed_over(tmp_path: Path, kept: str) -> None:
    """A log that was copied while it was written ends amid a line, which is told and does not count."""
    lines = rows([90, 80, 70, 60])
    end = kept.replace("{all}", lines[-1][:-5])
    log = read(tmp_path, "\n".join([HEADER, *lines[:-1], end]))
    assert log.gpus[0].n_samples == 3
    assert log.busy_fraction == pytest.approx(0.8)
    assert len(log.warnings) == 1
    assert log.warnings[0].startswith("'gpus.csv', line 5: this ")


@given(cut=st.integers(0, 400))
def test_a_log_may_end_anywhere(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    """Wherever a copy ends, at most one sample of it is lost."""
    text = "\n".join([HEADER, *rows([90] * 12), ""])
    whole = text[: len(text) - cut]
    log = read(tmp_path_factory.mktemp("log"), whole)
    assert log.gpus[0].n_samples >= whole.count("\n") - 1
    assert log.busy_fraction == pytest.approx(0.9)


def test_a_whole_last_line_counts_without_its_end(tmp_path: Path) -> None:
    """A file without a last end of line, as editors leave it, loses nothing."""
    log = read(tmp_path, "\n".join([HEADER, *rows([90, 80, 70])]))
    assert (log.gpus[0].n_samples, log.warnings) == (3, ())


def test_a_log_that_was_carried_on_is_one_log(tmp_path: Path) -> None:
    """A second header amid the log, and a line of an error, do no harm."""
    lines = rows([90] * 40)
    error = "Unable to determine the device handle for GPU 0000:3B:00.0: Unknown Error"
    log = read(tmp_path, [*lines[:10], HEADER, *lines[10:20], error, *lines[20:]])
    assert log.gpus[0].n_samples == 40
    assert log.warnings == ("'gpus.csv', line 23: this line is cut off or no sample, and passed over.",)


def test_rows_without_utilisation_are_passed_over(tmp_path: Path) -> None:
    """A GPU that was lost for a while has no utilisation then, which is told."""
    log = read(tmp_path, rows([90, "[N/A]", "[Unknown Error]", "", 70]))
    assert log.gpus[0].n_samples == 2
    assert log.warnings == ("'gpus.csv': 3 rows without a utilisation are passed over.",)


def test_newest_first_is_put_in_order(tmp_path: Path) -> None:
    """A log that runs backwards is turned round, and said so."""
    log = read(tmp_path, rows([0, 90, 70])[::-1])
    assert log.start == START
    assert [log.trimmed_s, log.stalled_fraction] == pytest.approx([1, 0.2])
    assert "2 rows are earlier than the row before; they were put in order of time." in log.warnings[0]


def test_rows_that_stand_there_twice_count_once(tmp_path: Path) -> None:
    """Two copies of a log in one file are one log."""
    lines = rows([90, 80, 70])
    log = read(tmp_path, lines + lines)
    assert log.gpus[0].n_samples == 3
    assert "3 rows repeat a GPU and a time; the first of each counts." in log.warnings[1]


def test_times_closer_than_a_microsecond_are_one(tmp_path: Path) -> None:
    """Two rows of a GPU whose times differ by nanoseconds count once, so no interval is empty."""
    lines = [f"2024/05/01 12:00:0{i}.123456{end}, 0, 90 %, 1 W, 1 MiB" for i in range(3) for end in ("", "4")]
    log = read(tmp_path, lines)
    assert (log.gpus[0].n_samples, log.interval_s) == (3, 1.0)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "'gpus.csv' is empty; log with `nvidia-smi --query-gpu=timestamp,index,utilization.gpu"),
        ("# mine\n", "holds nothing but comments; log with"),
        (HEADER, "has no samples below its header; log with"),
        ([rows([90, 90])[0]], "has one sample of each GPU; log for longer, with -l 1"),
        ("\n".join(rows([90, 90])), "has no header; write the names of its columns above it, or leave out noheader"),
        ("# gpu   pwr gtemp    sm\n# Idx     W     C     %\n    0    43    35     0\n", "nvidia-smi dmon` or `pmon`"),
        ("#Date Time gpu pwr\n20240501 12:00:00 0 43\n", "nvidia-smi dmon` or `pmon`"),
        ("Wed Jul  2 14:56:43 2025\n+-----+\n| NVIDIA-SMI 570 |\n", "is a report for the eye, not a table"),
        ("\n==============NVSMI LOG==============\n", "is a report for the eye, not a table"),
        ("No devices were found\n", "has no column timestamp, only 'No devices were found'; log with"),
        ("index, utilization.gpu [%]\n0, 5 %\n", "has no column timestamp, only 'index', 'utilization.gpu "),
        ("timestamp, pid, used_gpu_memory [MiB]\n", "has no column utilization.gpu, only 'timestamp', 'pid'"),
        ("a" * 500, f"has no column timestamp, only '{'a' * 40}'..."),
        (rows([90, 187, 90]), "line 3, column utilization.gpu: '187 %' is not a utilisation from 0 % to 100 %"),
        (rows([90, "-1 %", 90]), "line 3, column utilization.gpu: '-1 %' is not a utilisation"),
        (rows([90, "high", 90]), "line 3, column utilization.gpu: 'high' is not a utilisation"),
        (rows(["[N/A]", "[N/A]", "[N/A]"]), "has no utilisation in any row (MIG and some virtual GPUs report none)"),
        ([line.replace("MiB", "GB") for line in rows([9] * 3)], "'1000 GB' is not an amount of memory in MiB up to"),
        ([line.replace(" W", " mW") for line in rows([9] * 3)], "'300.50 mW' is not a power in W up to 100,000 W"),
        ([line.replace("2024/05/01", "05/01/24") for line in rows([9] * 3)], "is not a time such as 2024/05/01 12:34"),
        ([line.replace("12:00", "12:60") for line in rows([9] * 3)], "'2024/05/01 12:60:00.123' is not a time such as"),
        ([line.replace("12:00:0", "12:00:6") for line in rows([9] * 3)], "'2024/05/01 12:00:60.123' is not a time"),
        (["out of order"] * 2, "line 2: 2 of 2 rows do not have the 5 cells of the header; log with"),
        (
            "timestamp, utilization.gpu\n" + "".join(f"{stamp(t)}, 9 %\n" for t in (0, 0, 1, 1, 1, 2, 3, 3, 3, 3)),
            "has no column that tells its GPUs apart; log with",
        ),
    ],
)
def test_what_is_no_log_gets_one_sentence(tmp_path: Path, content: str | list[str], sentence: str) -> None:
    """Each fault is named with its place, what is allowed and the command that writes a log."""
    with pytest.raises(ValueError, match=re.escape(sentence)) as caught:
        read(tmp_path, content)
    assert "\n" not in str(caught.value)


def test_a_huge_log_is_not_read(tmp_path: Path) -> None:
    """A file beyond the limit is refused by its size, with the way out."""
    file = tmp_path / "gpus.csv"
    with file.open("wb") as opened:
        opened.truncate(int(reading.MAX_BYTES) + 1)
    with pytest.raises(ValueError, match="has more than 10 MiB; a part of the run tells as much: keep the header"):
        read_smi_log(file)


def test_a_path_to_no_log_gets_one_sentence(tmp_path: Path) -> None:
    """A missing file, a directory and bytes that are no text are told apart."""
    (tmp_path / "picture.csv").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(ValueError, match=r"There is no file '.*none\.csv'; give the CSV file of a GPU log"):
        read_smi_log(tmp_path / "none.csv")
    with pytest.raises(ValueError, match="is a directory; give the CSV file of a GPU log"):
        read_smi_log(tmp_path)
    with pytest.raises(ValueError, match="is not text in UTF-8; save a GPU log as a CSV file in UTF-8"):
        read_smi_log(tmp_path / "picture.csv")


def replaced(at: int, piece: str, n: int) -> Callable[[str], str]:
    """A change of a text: some characters give way to others."""
    return lambda text: text[: at % len(text)] + piece + text[at % len(text) + n :] if text else piece


pieces = st.sampled_from(["", "\n", ",", " ", "9" * 400, "nan", "[N/A]", "-", "#", '"', "\x00", "٣", HEADER]) | st.text(
    max_size=5
)
changes = st.lists(st.builds(replaced, st.integers(0, 10_000), pieces, st.integers(0, 60)), max_size=6)


@given(changes=changes, has_index=st.booleans())
def test_a_damaged_log_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: list[Callable[[str], str]], has_index: bool
) -> None:
    """Nothing that a file can hold ends in anything but a log or one sentence, or makes a share that is none."""
    text = "\n".join([HEADER, *rows([90, 0, 60, 70], [80, 3, 5, 99]), ""])
    text = text if has_index else text.replace("index", "pstate")
    for change in changes:
        text = change(text)
    file = tmp_path_factory.mktemp("log") / "gpus.csv"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with warnings.catch_warnings(), contextlib.suppress(ValueError):
        warnings.simplefilter("error")
        log = read_smi_log(file)
        assert 0 <= log.stalled_fraction <= 1
        assert 0 <= log.busy_fraction <= 1


def test_the_stall_of_a_log_is_priced(tmp_path: Path) -> None:
    """The share without a kernel, start-up left out, is what the log's stall costs at most."""
    log = read(tmp_path, rows([0] * 50 + steps(18)))
    found = stall_from_log(log, usd_per_hour=100.0, work_s=10 * DAY)
    assert found.waiting_fraction == log.stalled_fraction
    assert found.usd == pytest.approx(0.18 * 100 * 240)


def test_the_sentence_of_a_log_names_what_it_cannot_tell(tmp_path: Path) -> None:
    """A log's ceiling is said to hold only if all the waiting is for input."""
    found = stall_from_log(read(tmp_path, rows(steps(18))), usd_per_hour=98.0, work_s=18 * DAY)
    assert found.sentence == (
        "No kernel runs in 18% of the logged time: at most $7,620 and 3.24 days of this run can be had back if all of "
        "it is waiting for input, which a log can't tell from checkpoints, evaluation or Python."
    )


def test_the_sentence_of_several_gpus_names_communication(tmp_path: Path) -> None:
    """With several GPUs, waiting inside communication counts as busy, and the sentence says so."""
    end = "GPUs that wait for one another inside communication count as busy and are not in it."
    for uses in (steps(18), steps(0)):
        assert stall_from_log(read(tmp_path, rows(uses, uses))).sentence.endswith(end)
    assert stall_from_log(read(tmp_path, rows(steps(0)))).sentence == (
        "Some kernel runs all the time: the log shows no waiting for input."
    )


def test_a_log_without_a_kernel_has_no_stall(tmp_path: Path) -> None:
    """Where nothing ever runs, there is no run to diagnose."""
    with pytest.raises(ValueError, match=r"'gpus\.csv' shows no kernel at any time; log the GPUs of a run while"):
        stall_from_log(read(tmp_path, rows([0, 0, 0])))


def test_a_stall_is_a_value() -> None:
    """Two stalls of the same parts are the same."""
    assert stall(step_s=2, loader_wait_s=1) == Stall(0.5)
