import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from costkit import spot, tables
from costkit.spot import Law, Noticed, OnOff
from costkit.units import DAY, GB, HOUR

DRAWS = 400_000
MOST_ERRORS = 4.0

Array = npt.NDArray[np.float64]

lives_s = st.floats(60.0, 1e7)


def as_printed(text: str) -> Any:
    """A printed number, equal to what rounds to it, or agrees with it to 1e-9."""
    digits = len(text.partition(".")[2])
    return pytest.approx(float(text), abs=0.5 * 10.0**-digits * (1 + 1e-9), rel=1e-9)


# Fleets.


def test_spares_are_too_few_as_often_as_published() -> None:
    """Eight nodes with two spares, up 10 hours and gone half an hour."""
    ours = spot.blocked_fraction(n_nodes=8, spare_nodes=2, node_life_s=10 * HOUR, node_wait_s=0.5 * HOUR)
    assert ours == pytest.approx(0.010064878665525523, rel=1e-9)


@given(life_s=lives_s, wait_s=st.floats(1.0, 1e5), n=st.integers(1, 64), spares=st.integers(0, 8))
def test_spares_are_too_few_when_more_nodes_are_down(life_s: float, wait_s: float, n: int, spares: int) -> None:
    """The binomial sum, term by term."""
    down = wait_s / (life_s + wait_s)
    terms = [
        math.comb(n + spares, k) * down**k * (1 - down) ** (n + spares - k) for k in range(spares + 1, n + spares + 1)
    ]
    ours = spot.blocked_fraction(n_nodes=n, spare_nodes=spares, node_life_s=life_s, node_wait_s=wait_s)
    assert ours == pytest.approx(math.fsum(terms), rel=1e-8, abs=1e-15)


@given(node_life_s=lives_s, n=st.integers(1, 4096))
def test_independent_nodes_stop_a_job_n_times_as_often(node_life_s: float, n: int) -> None:
    """M_job = M_node / n."""
    assert spot.job_life_s(node_life_s=node_life_s, n_nodes=n) == pytest.approx(node_life_s / n)


@given(node_life_s=lives_s, n=st.integers(1, 512))
def test_a_burst_of_all_nodes_stops_a_job_as_often_as_one_node(node_life_s: float, n: int) -> None:
    """Where nodes are always lost together, a job lives as long as one of them."""
    assert spot.job_life_s(node_life_s=node_life_s, n_nodes=n, burst_nodes=n) == pytest.approx(node_life_s)


@given(node_life_s=lives_s, zone_life_s=lives_s, n=st.integers(1, 512))
def test_rates_of_nodes_and_of_the_zone_add_up(node_life_s: float, zone_life_s: float, n: int) -> None:
    """Losses of nodes and shocks to their zone are independent sources."""
    ours = spot.job_life_s(node_life_s=node_life_s, n_nodes=n, zone_life_s=zone_life_s)
    assert 1 / ours == pytest.approx(n / node_life_s + 1 / zone_life_s)


@pytest.mark.parametrize(
    ("fleet", "share"),
    [
        (spot.Fleet(n_nodes=4), 0.0),
        (spot.Fleet(n_nodes=4, keeps_survivors=True), 0.75),
        (spot.Fleet(n_nodes=4, burst_nodes=4.0, keeps_survivors=True), 0.0),
        (spot.Fleet(keeps_survivors=True), 0.0),
    ],
)
def test_the_share_of_nodes_that_is_kept(fleet: spot.Fleet, share: float) -> None:
    """What a loss does not take, where survivors are kept."""
    assert fleet.kept_fraction == share


@pytest.mark.parametrize("n_nodes", [0, -1, 2.5, "4", True, None])
def test_a_fleet_has_whole_nodes(n_nodes: Any) -> None:
    """Anything but a whole number from 1 on is refused by name."""
    with pytest.raises(ValueError, match="n_nodes must be a whole number of nodes, 1 or more, not "):
        spot.Fleet(n_nodes=n_nodes)


@pytest.mark.parametrize("burst", [0.5, 4.5, 0.0, -1.0, math.nan, math.inf, "2", True, None])
def test_a_burst_takes_from_one_node_to_all(burst: Any) -> None:
    """Fewer than one, or more than there are, is refused by name."""
    with pytest.raises(ValueError, match="burst_nodes must be "):
        spot.Fleet(n_nodes=4, burst_nodes=burst)


@pytest.mark.parametrize(
    ("name", "value"),
    [("node_life_s", 0.0), ("node_life_s", "1"), ("n_nodes", -4), ("burst_nodes", 9.0), ("zone_life_s", 0.0)],
)
def test_a_job_life_refuses_what_makes_no_sense(name: str, value: Any) -> None:
    """Every wrong number is named."""
    with pytest.raises(ValueError, match=f"{name} must be "):
        spot.job_life_s(**{"node_life_s": DAY, "n_nodes": 4, name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_nodes", 0), ("spare_nodes", -1), ("node_life_s", math.nan), ("node_wait_s", -1.0), ("node_wait_s", "60")],
)
def test_spares_refuse_what_makes_no_sense(name: str, value: Any) -> None:
    """Every wrong number is named."""
    with pytest.raises(ValueError, match=f"{name} must be "):
        spot.blocked_fraction(**{"n_nodes": 8, "spare_nodes": 1, "node_life_s": DAY, "node_wait_s": HOUR, name: value})


# Billing.


def test_storage_of_a_month() -> None:
    """Kept checkpoints cost their bytes at the monthly price, over a twelfth of a year."""
    hourly = spot.storage_usd_per_hour(checkpoint_bytes=42 * GB, n_kept=3, usd_per_gb_month=0.023)
    assert hourly * 365.25 * 24 / 12 == pytest.approx(42 * 3 * 0.023)


def test_moves_cost_by_the_gigabyte() -> None:
    """Half of all restarts carry 42 GB to another region at two cents each."""
    assert spot.move_usd(checkpoint_bytes=42 * GB, usd_per_gb=0.02, moved_fraction=0.5) == pytest.approx(0.42)


@given(failures=st.floats(1e-6, 1e-1), n=st.integers(1, 100_000))
def test_hardware_fails_in_proportion_to_its_gpus(failures: float, n: int) -> None:
    """Life times failures per GPU and day times GPUs is a day."""
    assert spot.hardware_life_s(failures_per_gpu_day=failures, n_gpus=n) * failures * n == pytest.approx(DAY)


def test_hardware_that_never_fails_lives_forever() -> None:
    """No failures, no end."""
    assert spot.hardware_life_s(failures_per_gpu_day=0.0, n_gpus=8) == math.inf


@pytest.mark.parametrize("n_gpus", [-8, math.nan, "8", None])
def test_hardware_refuses_what_is_no_number_of_gpus(n_gpus: Any) -> None:
    """A negative life, or one that is not a number, is no answer."""
    with pytest.raises(ValueError, match="n_gpus must be "):
        spot.hardware_life_s(failures_per_gpu_day=1e-3, n_gpus=n_gpus)


@pytest.mark.parametrize(
    ("given", "success"),
    [
        ({"notice_s": 120, "write_s": 60}, 1.0),
        ({"notice_s": 60, "write_s": 60}, 1.0),
        ({"notice_s": 30, "write_s": 60}, 0.0),
        ({"notice_s": 120, "write_s": 60, "latency_s": 61}, 0.0),
        ({"notice_s": 120, "write_s": 60, "latency_s": 50, "step_s": 20}, 0.5),
        ({"notice_s": 120, "write_s": 60, "latency_s": 60, "step_s": 20}, 0.0),
        ({"notice_s": 120, "write_s": 60, "step_s": 20, "reliability": 0.9}, 0.9),
    ],
)
def test_the_share_of_notices_that_are_long_enough(given: dict[str, float], success: float) -> None:
    """The write fits after the signal is seen and the running step has ended, if the signal arrives."""
    assert spot.notice_success(**given) == pytest.approx(success)


@given(notice_s=st.floats(0, 300), write_s=st.floats(0, 300), latency_s=st.floats(0, 60), step_s=st.floats(0, 60))
def test_a_longer_notice_never_hurts(notice_s: float, write_s: float, latency_s: float, step_s: float) -> None:
    """The share of good notices is a fraction that grows with their length."""
    short, long = (
        spot.notice_success(notice_s=one, write_s=write_s, latency_s=latency_s, step_s=step_s)
        for one in (notice_s, notice_s + 10)
    )
    assert 0 <= short <= long <= 1


@pytest.mark.parametrize(
    ("name", "value"),
    [*(("reliability", value) for value in (1.2, -0.1, math.nan, "1", None)), ("notice_s", -1.0), ("write_s", "60")],
)
def test_notices_refuse_what_makes_no_sense(name: str, value: Any) -> None:
    """Every wrong number is named."""
    with pytest.raises(ValueError, match=f"{name} must be "):
        spot.notice_success(**{"notice_s": 120.0, "write_s": 60.0, name: value})


@pytest.mark.parametrize("value", [1.2, -0.1, math.nan, "0.5", None])
def test_moves_refuse_a_share_that_is_none(value: Any) -> None:
    """The share of restarts that move is a fraction."""
    with pytest.raises(ValueError, match="moved_fraction must be a fraction from 0 to 1, not "):
        spot.move_usd(checkpoint_bytes=1e9, usd_per_gb=0.02, moved_fraction=value)


@pytest.mark.parametrize("name", ["usd_per_hour", "usd_per_restart"])
@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf, "1", True])
def test_a_bill_refuses_what_is_no_money(name: str, value: Any) -> None:
    """Every wrong amount is named, with its unit."""
    with pytest.raises(ValueError, match=f"{name} must be a finite number of USD a"):
        spot.Billing(**{name: value})


# Prices that move.

STEPS = spot.price_steps(np.array([100.0, 110.0, 130.0]), usd_per_hour=np.array([1.0, 4.0, 2.0]), end_s=140.0)


def test_a_price_has_a_mean_over_time() -> None:
    """$1 for 10 s, $4 for 20 s and $2 for 10 s are $2.75 on average."""
    assert (STEPS.mean_usd_per_hour, STEPS.span_s) == (2.75, 40.0)


@given(start=st.floats(0, 200), length=st.floats(0, 200))
def test_the_cost_of_a_stretch_is_the_integral_of_its_price(start: float, length: float) -> None:
    """The difference of the integrals equals the price summed over what each step overlaps."""
    edges, prices, cost = [0.0, 10.0, 30.0, 40.0], [1.0, 4.0, 2.0], 0.0
    for turn in range(12):
        for low, high, price in zip(edges, edges[1:], prices, strict=False):
            overlap = min(start + length, high + 40 * turn) - max(start, low + 40 * turn)
            cost += max(overlap, 0.0) * price
    first, last = STEPS.relative_cost_s(np.array([start, start + length]))
    assert last - first == pytest.approx(cost / 2.75, abs=1e-9)


@pytest.mark.parametrize(
    ("times", "prices", "end_s", "message"),
    [
        ([0.0, 10.0], [1.0], 20.0, "two lists of the same length"),
        ([], [], 20.0, "two lists of the same length"),
        ([0.0, 10.0], [1.0, 0.0], 20.0, "usd_per_hour must be a positive"),
        ([0.0, 10.0], [1.0, math.nan], 20.0, "usd_per_hour must be a positive"),
        ([10.0, 0.0], [1.0, 2.0], 20.0, "time_s must rise"),
        ([0.0, 0.0], [1.0, 2.0], 20.0, "time_s must rise"),
        ([0.0, 10.0], [1.0, 2.0], 10.0, "end_s must come after the last"),
        ([0.0, 10.0], [1.0, 2.0], math.inf, "end_s must come after the last"),
    ],
)
def test_a_record_of_prices_must_be_one(times: list[float], prices: list[float], end_s: float, message: str) -> None:
    """Changes in order, a price for each, and an end."""
    with pytest.raises(ValueError, match=message):
        spot.price_steps(np.array(times), usd_per_hour=np.array(prices), end_s=end_s)


# Laws of life times.

LAWS: dict[str, Law] = {
    "exponential": spot.exponential(),
    "weibull": spot.law("weibull"),
    "weibull 0.3": spot.weibull(0.3),
    "weibull 2": spot.weibull(2.0),
    "bathtub": spot.law("bathtub"),
    "bathtub without a cap": spot.bathtub(plateau=0.5, early_s=HOUR, late_s=HOUR, cap_s=24 * HOUR),
    "empirical": spot.empirical(np.array([1.0, 2.0, 2.0, 7.0]) * HOUR),
    "joint": spot.joint(np.array([1.0, 2.0, 9.0]) * HOUR),
}
every_law = pytest.mark.parametrize("name", LAWS)


@functools.cache
def draws(name: str) -> Array:
    """Many lives of a law."""
    lives = np.empty(DRAWS)
    LAWS[name].draw(np.random.default_rng(5), lives)
    return lives


@every_law
def test_lives_have_the_mean_1(name: str) -> None:
    """A law is a shape: the market gives the scale."""
    lives = draws(name)
    assert abs(lives.mean() - 1) < MOST_ERRORS * lives.std() / math.sqrt(DRAWS)


@every_law
@pytest.mark.parametrize("time", [0.01, 0.1, 0.37, 1.0, 1.63, 2.2])
def test_lives_survive_as_often_as_their_law_says(name: str, time: float) -> None:
    """The share of draws above a time is the law's probability of surviving it, within chance."""
    exact = LAWS[name].survival(time)
    error = math.sqrt(exact * (1 - exact) / DRAWS)
    assert np.mean(draws(name) > time) == pytest.approx(exact, abs=MOST_ERRORS * error + 1e-12)


@every_law
def test_survival_integrates_to_the_mean(name: str) -> None:
    """The area under the survival function is 1."""
    times = np.concatenate([[0.0], np.geomspace(1e-9, 1e4, 40_001)])
    area = integrate.trapezoid([LAWS[name].survival(float(t)) for t in times], times)
    assert area == pytest.approx(1, rel=2e-3)


@pytest.mark.parametrize("shape", [0.3, 0.6, 1.0, 2.0])
def test_weibull_lives_are_scipy_s(shape: float) -> None:
    """Survival is that of scipy's Weibull law with the mean 1."""
    theirs = stats.weibull_min(shape, scale=1 / math.gamma(1 + 1 / shape))
    times = [0.01, 0.5, 1.0, 3.0]
    assert [spot.weibull(shape).survival(t) for t in times] == pytest.approx(theirs.sf(times).tolist(), rel=1e-9)


def test_the_bathtub_of_the_paper() -> None:
    """P(life <= t) = A (1 - e^(-t/t1) + e^((t - b)/t2)), less what the last term has at 0."""
    A, t1, t2, b = 0.45, 3600.0, 2880.0, 86400.0
    law = spot.bathtub(plateau=A, early_s=t1, late_s=t2, cap_s=b)
    assert law.mean_s is not None
    times = [600.0, 3600.0, 43200.0, 80000.0, 86000.0]
    exact = [1 - A * (1 - math.exp(-t / t1) + math.exp((t - b) / t2) - math.exp(-b / t2)) for t in times]
    assert [law.survival(t / law.mean_s) for t in times] == pytest.approx(exact, abs=1e-7)


def test_no_life_outlasts_the_cap() -> None:
    """What is left ends at the cap, and nothing beyond it."""
    law = spot.bathtub(plateau=0.45, early_s=HOUR, late_s=0.8 * HOUR, cap_s=24 * HOUR)
    assert law.mean_s is not None
    lives_h = draws("bathtub") * law.mean_s / HOUR
    assert lives_h.max() == pytest.approx(24)
    assert np.mean(lives_h > 24 - 1e-6) == pytest.approx(0.1, abs=0.003)


def test_measured_lives_are_drawn_as_they_are() -> None:
    """Nothing but measured values, each as often as it was seen."""
    values, counts = np.unique(np.round(draws("empirical") * 3, 9), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 7.0]
    assert counts / DRAWS == pytest.approx(np.array([0.25, 0.5, 0.25]), abs=MOST_ERRORS * math.sqrt(0.25 / DRAWS))


def test_a_law_that_was_measured_knows_its_mean() -> None:
    """Where lives have a scale of their own it is kept; shapes have none."""
    known = (
        spot.empirical(np.array([1.0, 5.0])).mean_s,
        spot.joint(np.array([1.0, 5.0])).mean_s,
        spot.weibull(2).mean_s,
    )
    assert known == (3.0, 3.0, None)


def test_joint_prices_are_weighted_by_hours() -> None:
    """A dollar for an hour and three for three hours are 2.5 dollars an hour."""
    found = spot.joint(np.array([1.0, 3.0]), usd_per_hour=np.array([1.0, 3.0]), waits_s=np.array([2.0, 6.0]))
    assert found.prices is not None
    assert (found.prices.tolist(), found.mean_wait_s) == ([0.4, 1.2], 4.0)


def test_laws_are_looked_up_by_name() -> None:
    """Every name has a law, a law is its own, and an unknown name is met with the nearest."""
    assert [spot.law(name).name for name in spot.LAWS] == list(spot.LAWS)
    assert spot.law(LAWS["empirical"]) is LAWS["empirical"]
    with pytest.raises(tables.UnknownName, match=r"no law of life times 'bathtube'\. Did you mean 'bathtub'"):
        spot.law("bathtube")


@pytest.mark.parametrize("shape", [0.0, -1.0, math.nan, 0.05, 50.0])
def test_a_weibull_shape_is_a_plausible_one(shape: float) -> None:
    """Shapes that no machine has are refused."""
    with pytest.raises(ValueError, match="shape must be "):
        spot.weibull(shape)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("plateau", value) for value in (0.0, 0.6, math.nan, "0.4", None)),
        *((name, value) for name in ("early_s", "late_s", "cap_s") for value in (0.0, -1.0, math.nan, "1")),
    ],
)
def test_a_bathtub_refuses_what_makes_no_sense(name: str, value: Any) -> None:
    """Every wrong parameter is named."""
    with pytest.raises(ValueError, match=f"{name} must be "):
        spot.bathtub(**{"plateau": 0.45, "early_s": HOUR, "late_s": HOUR, "cap_s": DAY, name: value})


@pytest.mark.parametrize("lives", [[], [1.0, 0.0], [1.0, -2.0], [1.0, math.nan], [1.0, math.inf], [[1.0], [2.0]]])
def test_measured_lives_are_positive_numbers(lives: Any) -> None:
    """No life, none of no length, and no table of them."""
    with pytest.raises(ValueError, match="lives_s must be a "):
        spot.empirical(np.array(lives))


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("waits_s", [1.0], "waits_s must have one value for each of the 2 lives."),
        ("waits_s", [1.0, -1.0], "waits_s must be finite numbers"),
        ("waits_s", [1.0, math.nan], "waits_s must be finite numbers"),
        ("usd_per_hour", [1.0, 2.0, 3.0], "usd_per_hour must have one value for each of the 2 lives."),
        ("usd_per_hour", [1.0, 0.0], "usd_per_hour must be a positive"),
    ],
)
def test_what_came_with_a_life_goes_with_it(name: str, values: list[float], message: str) -> None:
    """One wait and one price for each life."""
    given: dict[str, Any] = {name: np.array(values)}
    with pytest.raises(ValueError, match=message):
        spot.joint(np.array([1.0, 2.0]), **given)


# Waiting.

NOTICED = Noticed(work_s=48 * HOUR, mean_life_s=6 * HOUR, loss_s=0.25 * HOUR)
ON_OFF = OnOff(work_s=48 * HOUR, mean_up_s=6 * HOUR, mean_down_s=1.1 * HOUR)


@pytest.mark.parametrize(("share", "printed"), [(0.5, "50.00"), (0.9, "51.00"), (0.99, "51.75")])
def test_quantiles_of_a_job_that_every_notice_saves(share: float, printed: str) -> None:
    """Hours until such jobs are done: T = S + K N, N Poisson."""
    assert NOTICED.quantile_s(share) / HOUR == as_printed(printed)


def test_the_mean_and_a_probability_of_a_job_that_every_notice_saves() -> None:
    """50 hours, and 50.5 hours for 0.8158857925585467 of such jobs."""
    ours = [NOTICED.mean_s / HOUR, NOTICED.cdf(50.5 * HOUR)]
    assert ours == pytest.approx([50, 0.8158857925585467], rel=1e-9)


def test_the_moments_of_a_job_that_only_waits() -> None:
    """56.8 hours with a standard deviation of 4.4."""
    assert (ON_OFF.mean_s / HOUR, ON_OFF.sd_s / HOUR) == (as_printed("56.8"), as_printed("4.4"))


@pytest.mark.parametrize(
    ("time_h", "printed"),
    [(52, ".12515093168704108"), (60, ".7845445301121262"), (70, ".9923204036887022")],
)
def test_probabilities_of_a_job_that_only_waits(time_h: float, printed: str) -> None:
    """The share of such jobs that is done by then."""
    assert ON_OFF.cdf(time_h * HOUR) == as_printed(printed)


@given(share=st.floats(0.01, 0.9999), work_h=st.floats(1, 500), up_h=st.floats(0.5, 50), down_h=st.floats(0.01, 20))
def test_quantiles_undo_probabilities(share: float, work_h: float, up_h: float, down_h: float) -> None:
    """By its quantile that share is done, or all that never wait already."""
    one = OnOff(work_s=work_h * HOUR, mean_up_s=up_h * HOUR, mean_down_s=down_h * HOUR)
    assert one.cdf(one.quantile_s(share)) == pytest.approx(max(share, math.exp(-work_h / up_h)), rel=1e-7)


def test_the_mean_of_a_job_that_only_waits_is_that_of_its_distribution() -> None:
    """The area above the distribution function is the mean wait."""
    times = np.linspace(0, 100, 4001) * HOUR
    late = [1 - ON_OFF.cdf(ON_OFF.work_s + float(t)) for t in times]
    assert integrate.trapezoid(late, times) / HOUR == pytest.approx(8.8, rel=1e-4)


@pytest.mark.parametrize("one", [NOTICED, ON_OFF], ids=["noticed", "on/off"])
def test_nobody_is_done_before_the_work_is(one: Noticed | OnOff) -> None:
    """Before the work's own time the probability is 0, and at it that of never being stopped."""
    assert [one.cdf(one.work_s - 1), one.cdf(one.work_s)] == pytest.approx([0, math.exp(-8)], abs=1e-15)


SAFETY = [
    (52, "26.198109042", "92.207166241"),
    (60, "45.445759840", "52.039243790"),
    (70, "47.944530143", "46.824560044"),
]


@pytest.mark.parametrize(("deadline_h", "spot_h", "usd"), SAFETY)
def test_a_safety_net(deadline_h: float, spot_h: str, usd: str) -> None:
    """Hours on spot and the mean bill of waiting for spot until the last safe moment."""
    found = spot.safety_net(ON_OFF, deadline_s=deadline_h * HOUR, spot_usd_per_hour=0.9731, on_demand_usd_per_hour=3.06)
    assert (found.spot_s / HOUR, found.usd) == (as_printed(spot_h), as_printed(usd))


def test_a_deadline_without_slack_leaves_the_first_life_to_spot() -> None:
    """With no time to wait the job leaves spot at its first loss: M (1 - e^(-S/M)) on average."""
    found = spot.safety_net(ON_OFF, deadline_s=48 * HOUR, spot_usd_per_hour=1, on_demand_usd_per_hour=3)
    assert found.spot_s / HOUR == pytest.approx(6 * (1 - math.exp(-8)), rel=1e-9)


def test_a_distant_deadline_leaves_everything_to_spot() -> None:
    """With all the time in the world nothing is bought on demand."""
    found = spot.safety_net(ON_OFF, deadline_s=1000 * HOUR, spot_usd_per_hour=1, on_demand_usd_per_hour=3)
    assert (found.spot_s / HOUR, found.on_demand_s, found.usd) == pytest.approx((48, 0, 48), abs=1e-6)


def test_a_deadline_before_the_work_is_refused() -> None:
    """Nobody can be done by then."""
    with pytest.raises(ValueError, match="deadline_s must not come before work_s"):
        spot.safety_net(ON_OFF, deadline_s=47 * HOUR, spot_usd_per_hour=1, on_demand_usd_per_hour=3)


@pytest.mark.parametrize("name", ["work_s", "mean_up_s", "mean_down_s"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf, "1", True])
def test_a_market_that_comes_and_goes_refuses_what_is_no_time(name: str, value: Any) -> None:
    """Every wrong time is named."""
    with pytest.raises(ValueError, match=f"{name} must be a positive, finite number of seconds, not "):
        OnOff(**{"work_s": 1.0, "mean_up_s": 1.0, "mean_down_s": 1.0, name: value})


@pytest.mark.parametrize("one", [NOTICED, ON_OFF], ids=["noticed", "on/off"])
@pytest.mark.parametrize("share", [0.0, 1.0, 1.5, math.nan, "0.5", None])
def test_quantiles_refuse_a_share_that_is_none(one: Noticed | OnOff, share: Any) -> None:
    """A share of jobs is above 0 and below 1."""
    with pytest.raises(ValueError, match="share must be above 0 and below 1, not "):
        one.quantile_s(share)
