"""How much energy does a run take? Watts that were measured in training, not the maximum times the hours.

- kWh = GPU-hours x watts of a GPU x (1 + share of the host) x PUE / 1000.
- Measured watts are means over a whole run, restarts and checkpoints included; GPUs that wait draw less. Where a GPU
  was not measured, a share of its maximum power is taken, between that of large runs and a guess for small ones.
- The host's share is that of servers with eight GPUs of 700 W; beside small cards a host weighs more. Switches, storage
  and other runs are not in it, nor is what the electricity emits.
- Low, mid and high are those of all factors at once, so the range is wide.
"""

from __future__ import annotations

from dataclasses import dataclass

from costkit import tables
from costkit.units import THOUSAND, Range, number, numbers


@dataclass(frozen=True)
class Energy:
    """What a run takes from the grid, by its factors; `basis` says where the watts of a GPU come from.

    `host_fraction` is what CPUs, fans and network cards draw per watt of the GPUs; `pue` is the power of the whole
    building over that of its computers.
    """

    gpu_hours: Range
    gpu_watts: Range
    host_fraction: Range
    pue: Range
    basis: str

    @property
    def gpu_kwh(self) -> Range:
        """The energy of the GPUs alone, as most papers state it."""
        return self.gpu_hours.times(self.gpu_watts).map(lambda watt_hours: watt_hours / THOUSAND)

    @property
    def kwh(self) -> Range:
        """The energy of everything, hosts and building included."""
        return self.gpu_kwh.times(self.host_fraction.plus(1)).times(self.pue)


def energy(*, gpu_hours: Range, gpu: tables.Gpu | str) -> Energy | None:
    """The energy of a run on so many GPU-hours; None where no power of that GPU is known.

    kWh = GPU-hours x W x (1 + host) x PUE / 1000. Watts are those of `measured_power.csv`, else a share of the maximum
    in `power.csv`; shares, hosts and PUE are those of `power_factors.csv`.

    Raises `ValueError` where the hours are negative or out of order, and `UnknownName` for a GPU that no table has.

    >>> olmo = energy(gpu_hours=Range(1.05e6, 1.05e6, 1.05e6), gpu="H100-SXM5-80GB")
    >>> round(olmo.gpu_kwh.high / 1000), olmo.basis
    (681, 'measured on Olmo 3 32B and Olmo 3 7B')
    >>> [round(kwh / 1000) for kwh in (olmo.kwh.low, olmo.kwh.mid, olmo.kwh.high)]
    [972, 1200, 1935]
    """
    _require_hours(gpu_hours)
    power = _power(tables.gpu(gpu).name)
    if power is None:
        return None
    gpu_watts, basis = power
    return Energy(gpu_hours, gpu_watts, _factor("host_fraction"), _factor("pue"), basis)


def _power(gpu: str) -> tuple[Range, str] | None:
    """What one GPU draws in training, and whence that is known."""
    runs = [row for row in tables.rows("measured_power.csv") if row["gpu"] == gpu]
    if runs:
        known = [float(row[name]) for row in runs for name in ("watts_low", "watts_mean", "watts_high") if row[name]]
        mean = sum(float(row["watts_mean"]) for row in runs) / len(runs)
        return Range(min(known), mean, max(known)), f"measured on {' and '.join(row['run'] for row in runs)}"
    for row in tables.rows("power.csv"):
        if row["gpu"] == gpu:
            watts = float(row["max_watts"])
            return _factor("load_fraction").times(watts), f"estimated from its maximum power of {number(watts)} W"
    return None


def _factor(name: str) -> Range:
    """A factor of `power_factors.csv`."""
    bounds = {row["bound"]: float(row["value"]) for row in tables.rows("power_factors.csv") if row["factor"] == name}
    return Range(**bounds)


def _require_hours(gpu_hours: Range) -> None:
    """Refuse what is no range of hours; an end that never comes may be inf."""
    if isinstance(gpu_hours, Range):
        low, mid, high = (numbers(value) for value in (gpu_hours.low, gpu_hours.mid, gpu_hours.high))
        if low.ndim == mid.ndim == high.ndim == 0 and 0 <= low <= mid <= high:
            return
    raise ValueError(
        f"gpu_hours must be a Range of GPU-hours from 0 up, with low <= mid <= high, not {str(gpu_hours)[:60]}."
    )
