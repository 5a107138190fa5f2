from __future__ import annotations

import itertools
import json
import math
import statistics
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq

from costkit import spot, tables
from costkit.units import DAY, HOUR

THIRDPARTY = Path(__file__).parents[2] / "shared" / "thirdparty" / "spot-traces"
FEBRUARY = "aws-02-15-2023/{}_v100_1"
AUGUST = "aws-08-27-2023/{}_v100_1"
SINGLE = [FEBRUARY.format(zone) for zone in ("us-east-1a", "us-east-1d", "us-east-1f", "us-east-2a", "us-east-2b")]
SINGLE += [FEBRUARY.format(zone) for zone in ("us-west-2a", "us-west-2b")]
SIXTEEN = [AUGUST.format(zone) for zone in ("us-east-2b", "us-west-2a", "us-west-2c")]

Counts = npt.NDArray[np.int64]


def raw(name: str) -> tuple[float, Counts]:
    """Hours of a step, and machines in each; a test that needs other people's file skips where it is absent."""
    folder = THIRDPARTY / "16-node" if name in SIXTEEN else THIRDPARTY
    file = folder / f"{name}.json"
    if not file.is_file():
        pytest.skip(f"other people's traces are no part of the project: {file} is absent")
    read = json.loads(file.read_text(encoding="utf-8"))
    return read["metadata"]["gap_seconds"] / HOUR, np.array(read["data"])


def weibull_shape(step_h: float, up: Counts) -> float:
    """The likeliest shape of the times up, without the one under way at the start, the one at the end censored."""
    bounds = np.flatnonzero(np.diff(up, prepend=-1, append=-1))
    spans = [(begin, end) for begin, end in itertools.pairwise(bounds) if up[begin] and begin > 0]
    t = np.array([(end - begin) * step_h for begin, end in spans])
    ended = np.array([end < len(up) for _, end in spans])

    def slope(k: float) -> float:
        return float(1 / k + np.log(t[ended]).mean() - (t**k * np.log(t)).sum() / (t**k).sum())

    return float(brentq(slope, 0.05, 10))


def per_hour(life_s: float) -> float:
    """A mean life as a rate per hour."""
    return HOUR / life_s


@pytest.mark.parametrize(
    ("zone", "available_fraction", "up_h", "down_h"),
    [
        ("us-east-1a", 0.167, 0.72, 3.58),
        ("us-east-1c", 0.467, 1.48, 1.69),
        ("us-east-1d", 0.447, 1.66, 2.05),
        ("us-east-1f", 0.591, 2.26, 1.56),
        ("us-east-2a", 0.759, 5.68, 1.80),
        ("us-east-2b", 0.682, 4.26, 1.98),
        ("us-west-2a", 0.883, 6.06, 0.81),
        ("us-west-2b", 0.905, 10.4, 1.10),
        ("us-west-2c", 0.891, 6.81, 0.84),
    ],
)
def test_february_2023(zone: str, available_fraction: float, up_h: float, down_h: float) -> None:
    """The nine V100 zones of February 2023 are there, with the share and the times that their traces show."""
    market = spot.measured_market(FEBRUARY.format(zone))
    assert (market.zone, market.gpu, market.nodes, market.as_of) == (zone, "V100-SXM2-16GB", 1, "2023-02")
    assert market.available_fraction == available_fraction
    assert (market.mean_up_s, market.mean_wait_s) == (up_h * HOUR, down_h * HOUR)


def test_mean_life_is_hours_over_losses() -> None:
    """A machine's mean life is hours over losses: longer than a mean time up where the watch cut one off."""
    for market in spot.measured_markets():
        if market.nodes == 1 and math.isfinite(market.mean_life_s):
            assert market.mean_up_s is not None
            assert 0.97 <= market.mean_life_s / market.mean_up_s <= 1.4, market.name


@pytest.mark.parametrize(("zone", "losses_per_hour"), [("us-east-1a", 1.3901), ("us-west-2b", 0.0951)])
def test_lives_span_an_order_of_magnitude(zone: str, losses_per_hour: float) -> None:
    """The worst and the best of those zones lose a machine 1.39 and 0.095 times an hour."""
    life_s = spot.measured_market(FEBRUARY.format(zone)).mean_life_s
    assert per_hour(life_s) == pytest.approx(losses_per_hour, rel=1e-12)


def test_no_loss_is_an_endless_life() -> None:
    """Where no machine was lost, the mean life is infinite and the note says why."""
    endless = [market for market in spot.measured_markets() if math.isinf(market.mean_life_s)]
    assert [market.device for market in endless] == ["c3-88"] * 3
    assert all("no machine was lost" in market.note for market in endless)


@pytest.mark.parametrize(
    ("name", "burst_nodes"),
    [
        ("aws-08-27-2023/us-east-2b_v100_1", 6.7),
        ("aws-08-27-2023/us-west-2a_v100_1", 10.2),
        ("aws-08-27-2023/us-west-2c_v100_1", 11.1),
        ("aws-08-03-2023/us-east-1f_v100_1", 1.43),
        ("aws-08-03-2023/us-east-2a_v100_1", 1.25),
        ("aws-08-03-2023/us-west-2c_v100_1", 1.82),
        ("bamboo/p3-trace", 2.11),
        ("bamboo/v100x1-east1c", 8.39),
    ],
)
def test_machines_go_in_bursts(name: str, burst_nodes: float) -> None:
    """Where several machines were watched, a loss takes more than one."""
    digits = len(str(burst_nodes).split(".")[1])
    assert round(spot.measured_market(name).burst_nodes, digits) == burst_nodes


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("aws-08-27-2023/us-east-2b_v100_1", 10.3),
        ("aws-08-27-2023/us-west-2a_v100_1", 15.7),
        ("aws-08-27-2023/us-west-2c_v100_1", 16.4),
        ("aws-08-03-2023/us-east-1f_v100_1", 3.25),
        ("aws-08-03-2023/us-east-2a_v100_1", 2.03),
        ("aws-08-03-2023/us-west-2c_v100_1", 3.55),
    ],
)
def test_independence_is_too_pessimistic(name: str, times: float) -> None:
    """All machines at once stay up 2 to 16 times longer than machines that are lost one by one would."""
    market = spot.measured_market(name)
    assert market.mean_up_s is not None
    assert market.mean_up_s / (market.mean_life_s / market.nodes) == pytest.approx(times, rel=0.02)


@pytest.mark.parametrize("name", SINGLE)
def test_trace_file_of_one_machine_has_our_statistics(name: str) -> None:
    """From the file itself: time up and down, losses per hour and shape are those of the table."""
    (step_h, up), market = raw(name), spot.measured_market(name)
    lost = int((np.diff(up) < 0).sum())
    assert market.available_fraction == pytest.approx(up.mean(), abs=6e-4)
    assert per_hour(market.mean_life_s) == pytest.approx(lost / (up.sum() * step_h), abs=6e-5)
    assert market.weibull_shape == pytest.approx(weibull_shape(step_h, up), abs=6e-4)


@pytest.mark.parametrize("name", SIXTEEN)
def test_trace_file_of_many_machines_has_our_statistics(name: str) -> None:
    """From the file itself: losses per machine-hour and burst are those of the table."""
    (step_h, counts), market = raw(name), spot.measured_market(name)
    changes = np.diff(counts)
    lost = -changes[changes < 0].sum()
    assert market.available_fraction == pytest.approx((counts == 16).mean(), abs=6e-4)
    assert per_hour(market.mean_life_s) == pytest.approx(lost / (counts.sum() * step_h), abs=6e-5)
    assert market.burst_nodes == pytest.approx(lost / (changes < 0).sum(), abs=6e-3)


def test_lives_are_no_even_rate() -> None:
    """Six of the seven shapes that we could compute are far below 1, and one is near it."""
    shapes = sorted(market.weibull_shape for market in spot.measured_markets() if market.weibull_shape)
    assert len(shapes) == 7
    assert 0.49 <= shapes[0] <= shapes[-2] <= 0.73
    assert shapes[-1] == pytest.approx(0.93, abs=0.005)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        (
            "aws-08-03-2023/us-west-2c_v100_1",
            "measured on V100s in August 2023, on machines held until lost",
        ),
        (
            "aws-10-26-2022/us-west-2a_k80_8",
            "measured on K80s in October 2022, by probes that start and stop a machine",
        ),
        (
            "gcp-04-30-2023/us-east1-b_c3-88",
            "measured on c3-88 machines in April 2023, on machines held until lost",
        ),
    ],
)
def test_note_says_on_what_and_when(name: str, note: str) -> None:
    """A market says on what it was measured, when and how."""
    assert spot.measured_market(name).note == note


def test_note_has_a_year_where_no_month_is_known() -> None:
    """Bamboo's AWS traces tell no day: the year stands alone, and the note goes on to say so."""
    note = spot.measured_market("bamboo/g4dn-trace").note
    assert note.startswith("measured on g4dn machines in 2022, on machines held until lost; the day is not told")


def test_nothing_newer_than_an_a100_was_measured() -> None:
    """No trace of an H100 or newer is public, and none is pretended."""
    gpus = {market.gpu for market in spot.measured_markets()}
    assert gpus == {"", "T4", "V100-SXM2-16GB", "A100-SXM4-40GB"}


def test_every_market_cites_its_source() -> None:
    """A market's source is one of ours, with an address."""
    assert all(tables.source(market.source).url for market in spot.measured_markets())


def test_unknown_market_offers_the_nearest() -> None:
    """A misspelt market is answered with the right one."""
    with pytest.raises(tables.UnknownName, match=r"no measured market .* Did you mean 'bamboo/p3-trace'\?"):
        spot.measured_market("bamboo/p3-traces")


@pytest.mark.parametrize(("percent", "losses_per_hour"), [(5, 7.03e-5), (10, 1.44e-4), (15, 2.23e-4), (20, 3.06e-4)])
def test_a_rate_per_month(percent: float, losses_per_hour: float) -> None:
    """5, 10, 15 and 20% a month of 730 hours are 0.7 to 3.1 losses in 10,000 hours."""
    life_s = spot.life_from_rate(percent / 100, per="month")
    assert float(f"{per_hour(life_s):.2e}") == losses_per_hour


def test_a_rate_per_hour() -> None:
    """Azure's 5% an hour is 0.0513 losses an hour, a mean life of 19.5 hours."""
    life_s = spot.life_from_rate(0.05, per="hour")
    assert round(per_hour(life_s), 4) == 0.0513
    assert round(life_s / HOUR, 1) == 19.5


@pytest.mark.parametrize(("provider", "per"), [("aws", "month"), ("azure", "hour")])
def test_a_provider_stands_for_its_period(provider: str, per: str) -> None:
    """A rate may name the provider that tells it instead of the period."""
    assert spot.life_from_rate(0.1, per=provider) == spot.life_from_rate(0.1, per=per)


def test_a_small_rate_is_nearly_its_inverse() -> None:
    """The rarer losses are, the closer the mean life comes to the period over the chance."""
    assert spot.life_from_rate(1e-9, per="hour") == pytest.approx(1e9 * HOUR, rel=1e-8)


def test_the_rate_of_gcp_is_none() -> None:
    """GCP's share of stopped machines that were preempted is refused in a sentence."""
    with pytest.raises(ValueError, match=r"holds no time: no life follows from it\. Give a mean life"):
        spot.life_from_rate(0.1, per="gcp")


def test_the_bucket_of_gcp_is_none() -> None:
    """GCP has no buckets either, and says so the same way."""
    with pytest.raises(ValueError, match="holds no time"):
        spot.rate_range("gcp", "5-10")


@pytest.mark.parametrize("fraction", [0, -0.05, 1, 5, math.nan, math.inf, "5%", None, True])
def test_a_rate_is_a_fraction(fraction: object) -> None:
    """What is no chance between 0 and 1 is refused, a percentage with the hint that 5% is 0.05."""
    with pytest.raises(ValueError, match=r"^interrupted_fraction must be .*\(5% is 0\.05\), not [^\n]*\.$"):
        spot.life_from_rate(fraction, per="month")  # type: ignore[arg-type]


def test_an_unknown_period() -> None:
    """A period that no provider uses is an unknown name."""
    with pytest.raises(tables.UnknownName, match=r"no period 'week'\. Known: aws, azure, hour, month\."):
        spot.life_from_rate(0.05, per="week")


def test_a_bucket_is_a_range_of_lives() -> None:
    """5-10% a month is what 10% and 5% are."""
    lives = spot.rate_range("aws", "5-10%")
    assert lives.shortest_s == spot.life_from_rate(0.1, per="aws")
    assert lives.longest_s == spot.life_from_rate(0.05, per="aws")


@pytest.mark.parametrize(("provider", "bucket"), [("aws", ">20%"), ("azure", "20+")])
def test_the_highest_bucket_has_no_shortest_life(provider: str, bucket: str) -> None:
    """More than 20% may be anything above: its shortest life is 0, and 20% is the longest."""
    lives = spot.rate_range(provider, bucket)
    assert (lives.shortest_s, lives.longest_s) == (0, spot.life_from_rate(0.2, per=provider))
    assert "at most" in lives.sentence
    assert "no upper end" in lives.sentence


@pytest.mark.parametrize(("provider", "bucket"), [("aws", "<5%"), ("azure", "0-5")])
def test_the_lowest_bucket_has_no_longest_life(provider: str, bucket: str) -> None:
    """Less than 5% may be nothing: the mean life has a lower end only."""
    lives = spot.rate_range(provider, bucket)
    assert (lives.shortest_s, lives.longest_s) == (spot.life_from_rate(0.05, per=provider), math.inf)
    assert "or more" in lives.sentence


def test_measured_lives_are_far_below_the_highest_bucket() -> None:
    """V100s are in AWS's highest bucket everywhere, and were lost 300 to 4,500 times as often as 20% a month."""
    types = ("p3.2xlarge", "p3.8xlarge", "p3.16xlarge")
    rows = [row for row in tables.rows("interruption_buckets.csv") if row["instance_type"] in types]
    assert {row["bucket"] for row in rows} == {">20%"}
    longest_s = spot.rate_range("aws", ">20%").longest_s
    lives_s = [market.mean_life_s for market in spot.measured_markets() if market.as_of == "2023-02"]
    assert [round(longest_s / life_s, -2) for life_s in (max(lives_s), min(lives_s))] == [300, 4500]


def test_unknown_bucket() -> None:
    """A bucket that the provider doesn't have is an unknown name that lists those it has."""
    with pytest.raises(tables.UnknownName, match=r"no bucket of aws '20%'"):
        spot.rate_range("aws", "20%")


def test_unknown_provider_of_rates() -> None:
    """A provider without rates is an unknown name."""
    with pytest.raises(tables.UnknownName, match=r"no provider of rates 'lambda'\. Known: aws, azure\."):
        spot.rate_range("lambda", "5-10")


@pytest.mark.parametrize(
    ("instance_type", "region", "bucket", "savings_fraction"),
    [
        ("p5.48xlarge", "us-east-1", ">20%", 0.52),
        ("p5.48xlarge", "us-east-2", "5-10%", 0.61),
        ("p5.48xlarge", "us-west-2", "5-10%", 0.46),
        ("p5.48xlarge", "ca-central-1", "<5%", -0.62),
    ],
)
def test_aws_bucket(instance_type: str, region: str, bucket: str, savings_fraction: float) -> None:
    """H100 machines are in different buckets by region, and where spot cost more the saving is negative."""
    told = spot.aws_bucket(instance_type, region)
    assert (told.bucket, told.savings_fraction, told.as_of) == (bucket, savings_fraction, "2025-06-28")
    assert told.life == spot.rate_range("aws", bucket)


def test_unknown_instance_type() -> None:
    """A machine that the advisor doesn't list is an unknown name."""
    with pytest.raises(tables.UnknownName, match=r"no instance type 'p5\.47xlarge'\. Did you mean"):
        spot.aws_bucket("p5.47xlarge", "us-east-1")


def test_unknown_region() -> None:
    """A region where the machine isn't sold is an unknown name, and the sentence names the machine."""
    with pytest.raises(tables.UnknownName, match=r"no region with p4de\.24xlarge 'mars'"):
        spot.aws_bucket("p4de.24xlarge", "mars")


def test_llama_3_failed_every_three_hours() -> None:
    """419 failures in 54 days on 16,384 GPUs: 4.736e-4 a GPU-day, 50,677 h a GPU, one in 3.0931 h for all."""
    run = spot.hardware_failures()["llama-3-405b"]
    assert float(f"{run.failures_per_gpu_day:.3e}") == 4.736e-4
    assert round(run.gpu_life_s / HOUR) == 50677
    assert round(run.gpu_life_s / 16384 / HOUR, 4) == 3.0931


@pytest.mark.parametrize(
    ("run", "rate", "digits"),
    [
        ("rsc-1", 8.1e-4, 1),
        ("rsc-2", 2.9e-4, 1),
        ("opt-175b", 1.95e-3, 2),
        ("crusoe-h200", 1.07e-3, 2),
        ("epoch-h100", 4.8e-4, 1),
    ],
)
def test_failures_of_hardware(run: str, rate: float, digits: int) -> None:
    """Hardware fails 3 to 20 times in 10,000 GPU-days."""
    assert float(f"{spot.failures_per_gpu_day(run):.{digits}e}") == rate


def test_rsc_1_at_the_size_of_llama_3() -> None:
    """RSC-1's rate makes a failure every 1.8 hours on 16,384 GPUs, as its operators print."""
    assert round(spot.hardware_failures()["rsc-1"].gpu_life_s / 16384 / HOUR, 1) == 1.8


def test_opt_lost_two_machines_a_day() -> None:
    """The rate of OPT-175B is two machines a day on its 1,024 GPUs."""
    run = spot.hardware_failures()["opt-175b"]
    assert run.n_gpus is not None
    assert run.n_gpus * DAY / run.gpu_life_s == pytest.approx(2, abs=0.005)


def test_a_run_that_tells_no_size() -> None:
    """What a source doesn't tell is None, and no guess."""
    run = spot.hardware_failures()["epoch-h100"]
    assert (run.n_gpus, run.days) == (None, None)


def test_unknown_run_with_failures() -> None:
    """A run without counted failures is an unknown name."""
    with pytest.raises(tables.UnknownName, match=r"Did you mean 'llama-3-405b'\?"):
        spot.failures_per_gpu_day("llama-3")


@pytest.mark.parametrize(("provider", "notice_s"), [("aws", 120), ("gcp", 30), ("azure", 30), ("sagemaker", 120)])
def test_notices(provider: str, notice_s: float) -> None:
    """AWS gives two minutes, GCP and Azure 30 seconds."""
    assert spot.notice_s(provider) == notice_s


def test_unknown_notice() -> None:
    """A provider whose notice is not known is an unknown name that lists the others."""
    with pytest.raises(tables.UnknownName, match=r"Known: aws, azure, gcp, sagemaker\."):
        spot.notice_s("runpod")


@pytest.mark.parametrize(
    ("name", "usd_per_gb_month", "usd_per_gb"),
    [
        ("s3-standard", 0.023, None),
        ("egress-us-eu", None, 0.02),
        ("egress-tokyo-us", None, 0.09),
        ("cross-zone", None, 0.01),
    ],
)
def test_storage_prices(name: str, usd_per_gb_month: float | None, usd_per_gb: float | None) -> None:
    """Keeping a GB has one price, moving it another."""
    price = spot.storage_price(name)
    assert (price.usd_per_gb_month, price.usd_per_gb) == (usd_per_gb_month, usd_per_gb)


def test_unknown_storage_price() -> None:
    """A misspelt price is answered with the right one."""
    with pytest.raises(tables.UnknownName, match=r"Did you mean 's3-standard'\?"):
        spot.storage_price("s3 standard")


@pytest.mark.parametrize(
    ("gpu", "low", "mid", "high"),
    [
        ("V100-SXM2-16GB", 0.403, 0.613, 1.274),
        ("A100-SXM4-40GB", 0.786, 1.165, 1.763),
        ("A100-SXM4-80GB", 1.216, 1.604, 1.782),
        ("H100-SXM5-80GB", 1.781, 2.703, 6.88),
        ("H200-SXM-141GB", 2.011, 2.488, 3.151),
        ("B200-SXM-180GB", 2.387, 3.118, 5.822),
        ("L40S", 0.690, 1.112, 1.649),
    ],
)
def test_spot_prices_of_aws(gpu: str, low: float, mid: float, high: float) -> None:
    """The lowest, the median and the highest spot price of AWS, over its zones."""
    usd = spot.spot_quotes(gpu, provider="aws").usd_per_gpu_hour
    assert [usd.low, usd.mid, usd.high] == pytest.approx([low, mid, high], abs=6e-4)


def test_spot_quotes_of_all_providers() -> None:
    """Without a provider, all of them count."""
    everyone, aws = spot.spot_quotes("L40S"), spot.spot_quotes("L40S", provider="aws")
    assert len(everyone.prices) == len(aws.prices) + 2
    assert everyone.usd_per_gpu_hour.low == 0.26


def test_price_ratio_is_to_the_same_region() -> None:
    """A ratio is to the on-demand price of the same machine, region and day: H100s go from a fifth to no discount."""
    ratio = spot.price_ratio_range("H100-SXM5-80GB")
    assert [ratio.low, ratio.high] == pytest.approx([2.2712 / 12.29, 1])


def test_zones_without_a_discount_stay() -> None:
    """Two zones sell H100s on spot at the on-demand price: they stay, and are counted."""
    found = spot.spot_quotes("H100-SXM5-80GB", provider="aws")
    assert (found.n_no_discount, len(found.ratios)) == (2, 13)


def test_prices_without_an_on_demand_price_have_no_ratio() -> None:
    """p5e is sold on spot only: its three prices stay, and have no ratio."""
    found = spot.spot_quotes("H200-SXM-141GB", provider="aws")
    assert (len(found.prices), len(found.ratios)) == (11, 8)


def test_floors_are_counted() -> None:
    """A tenth of the on-demand price is a floor, up to the rounding of both; a seventh is none."""
    found = spot.SpotQuotes("mine", prices=(7.5955, 7.5955, 10.0), ratios=(7.5955 / 75.9552, 0.1, 0.14))
    assert found.n_at_floor == 2


def test_no_price_of_ours_is_a_floor() -> None:
    """None of the prices in the table is a floor."""
    gpus = {quote.gpu for quote in tables.quotes(purchase="spot")}
    assert sum(spot.spot_quotes(gpu).n_at_floor for gpu in gpus) == 0


def test_median_ratio_of_all_spot_prices() -> None:
    """Over all that is in the table, spot costs 0.13 to 1 of on-demand, and at the median 0.38 to 0.42."""
    gpus = {quote.gpu for quote in tables.quotes(purchase="spot")}
    ratios = [ratio for gpu in gpus for ratio in spot.spot_quotes(gpu).ratios]
    assert (len(ratios), min(ratios), max(ratios)) == (98, 0.13, 1)
    assert 0.38 < statistics.median(ratios) < 0.42


def test_a_gpu_that_nobody_sells_on_spot() -> None:
    """A GPU without a spot price is answered in a sentence."""
    with pytest.raises(
        ValueError, match=r"^There is no spot price of GH200-96GB at any provider; give one of your own\.$"
    ):
        spot.price_ratio_range("GH200-96GB")


def test_a_provider_that_sells_none_on_spot() -> None:
    """A provider that sells a GPU, but not on spot, is named in the sentence."""
    with pytest.raises(ValueError, match="no spot price of H100-SXM5-80GB at lambda"):
        spot.spot_quotes("H100-SXM5-80GB", provider="lambda")


def test_prices_without_any_ratio() -> None:
    """Spot prices that have no on-demand price beside them make no ratio, and a sentence says so."""
    with pytest.raises(ValueError, match=r"^No spot price of mine has an on-demand price beside it"):
        _ = spot.SpotQuotes("mine", prices=(1.0,), ratios=()).price_ratio


def test_spot_quotes_of_an_unknown_gpu() -> None:
    """A misspelt GPU is answered with the right one."""
    with pytest.raises(tables.UnknownName, match="Did you mean 'H100-SXM5-80GB'"):
        spot.spot_quotes("H100")
