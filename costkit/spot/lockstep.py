"""What happens to many trials at once? All have lost their machines equally often: one life of each at a time.

- A step draws a life for every trial that is not done, takes the restart off it, and moves the trial to the last saved
  state that it passed. Trials that are done leave. Any law of life times costs about the same.
- Lives start afresh at each loss. A restart can be lost too. Positions are in segments: saved states are whole numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from costkit.spot.jobs import Job, Market
from costkit.spot.outcomes import without_rounding
from costkit.spot.trace import Flags, Floats
from costkit.units import HOUR

_LOOK_EVERY = 32
_DEAD_SHARE = 8


class Lockstep:
    """Trials that have all lost their machines equally often. Times are in segments until the end."""

    def __init__(self, job: Job, market: Market, n: int, rng: np.random.Generator, give_up: float) -> None:
        self.job, self.market, self.rng = job, market, rng
        self.unit_s = job.segment_s
        self.length = job.n_full_segments + job.last_segment_s / self.unit_s
        self.restart = (job.restart_s + market.provision_s) / self.unit_s
        self.notice = market.notice_s / self.unit_s
        self.most = give_up * job.ideal_s / self.unit_s
        self.law = market.law
        self.chosen: Any = None
        self.n_losses, self.n_dead = 0, 0
        self.trial = np.arange(n)
        self.position = np.zeros(n)
        self.sums = {name: np.zeros(n) for name in self.names()}
        self.ends: dict[str, Any] = {name: np.zeros(n) for name in (*self.sums, "losses", "rest")}
        self.ends["finished"] = np.zeros(n, bool)
        self._life, self._spent, self._done = np.empty(n), np.empty(n), np.empty(n, bool)

    def names(self) -> list[str]:
        """What is added up for each trial."""
        market = self.market
        wanted = {"failures": market.hardware_life_s != math.inf, "free": market.billing.first_hour_free}
        return ["billed", "restarting", *(name for name, is_wanted in wanted.items() if is_wanted)]

    def run(self) -> dict[str, Any]:
        """Every trial to its end; the arrays of `Outcomes`."""
        restart = 0.0
        while self.trial.size:
            self.step(restart)
            restart = self.restart
        return self.outcome()

    def step(self, restart: float) -> None:
        """One life of every trial."""
        n = self.trial.size
        life, spent, done = self._life[:n], self._spent[:n], self._done[:n]
        failed = self.draw(life)
        np.minimum(life, restart, out=spent)
        self.sums["restarting"] += spent
        reached = np.subtract(life, spent, out=spent)
        reached += self.position
        if np.count_nonzero(np.greater_equal(reached, self.length, out=done)):
            self.finish(done, restart)
            life[done] = 0.0
        self.account(life, failed)
        self.save(reached, failed)
        self.n_losses += 1
        if self.n_losses % _LOOK_EVERY == 0:
            self.give_up()
        if self.n_dead * _DEAD_SHARE > n:
            self.compact()

    def draw(self, life: Floats) -> Flags | None:
        """Fill in how long each life is, and say which a hardware failure ends."""
        self.chosen = self.law.draw(self.rng, life)
        life *= self.market.mean_life_s / self.unit_s
        if self.market.hardware_life_s == math.inf:
            return None
        until = self.rng.standard_exponential(len(life)) * (self.market.hardware_life_s / self.unit_s)
        failed = until < life
        np.minimum(life, until, out=life)
        return failed

    def account(self, life: Floats, failed: Flags | None) -> None:
        """Add the life, which ended in a loss, to what is paid."""
        self.sums["billed"] += life
        if failed is not None:
            self.sums["failures"] += failed
        if "free" in self.sums:
            free = life < HOUR / self.unit_s - self.notice
            self.sums["free"] += (free if failed is None else free & ~failed) * self.credited(life)

    def credited(self, life: Floats) -> Floats:
        """What a life that was taken back in its first hour would have cost."""
        return life + self.notice

    def save(self, reached: Floats, failed: Flags | None) -> None:
        """Stay where a notice saved the state, or fall back to what was saved last, periodically or on a notice."""
        p = self.market.notice_success
        if p == 0:
            np.floor(reached, out=self.position)
            return
        saved = self.rng.random(len(reached), dtype=np.float32) < p
        if failed is not None:
            saved &= ~failed
        fallen = np.maximum(self.position, np.floor(reached))
        np.copyto(self.position, np.where(saved, reached, fallen))

    def finish(self, done: Flags, restart: float) -> None:
        """Write down the trials that got to the end in this life, and let them idle until they are taken out."""
        which = np.flatnonzero(done)
        self.leave(which, restart + self.length - self.position[which])
        self.ends["finished"][self.trial[which]] = True

    def leave(self, which: Any, rest: Floats | float) -> None:
        """Write down what the trials have added up to, with what is left of their last life."""
        trial = self.trial[which]
        for name, total in self.sums.items():
            self.ends[name][trial] = total[which]
        self.ends["rest"][trial] = rest
        self.ends["losses"][trial] = self.n_losses
        self.position[which] = -math.inf  # never reaches the end again, and saves nothing
        self._spent[which] = -math.inf  # what `step` holds as reached, and will save from
        self.n_dead += len(which)

    def give_up(self) -> None:
        """Take out the trials that have run for too long."""
        which = np.flatnonzero((self.sums["billed"] > self.most) & (self.position > -math.inf))
        self.leave(which, 0.0)

    def compact(self) -> None:
        """Drop the trials that are done."""
        alive = self.position > -math.inf
        self.trial, self.position, self.n_dead = self.trial[alive], self.position[alive], 0
        self.sums = {name: total[alive] for name, total in self.sums.items()}

    def outcome(self) -> dict[str, Any]:
        """The arrays of `Outcomes`."""
        market, ends, finished = self.market, self.ends, self.ends["finished"]
        losses, failures = ends["losses"], ends.get("failures", np.zeros(len(finished)))
        notice_s = market.notice_s * (losses - failures)
        billed_s = (ends["billed"] + ends["rest"]) * self.unit_s + notice_s
        waiting_s = self.waited_s()
        restart_s = ends["restarting"] * self.unit_s
        machine_usd, credit_usd = self.dollars(billed_s)
        kept_s = (self.job.work_s + self.job.n_checkpoints * self.job.checkpoint_write_s) * finished
        return {
            "billed_s": billed_s,
            "losses": losses,
            "hardware_failures": failures,
            "lost_s": without_rounding(billed_s - kept_s - restart_s - notice_s, billed_s),
            "restart_s": restart_s,
            "notice_s": notice_s,
            "waiting_s": waiting_s,
            "machine_usd": machine_usd,
            "credit_usd": credit_usd,
            "finished": finished,
        }

    def waited_s(self) -> Floats:
        """The sum of as many waits as there were losses: exponential ones sum to a gamma."""
        mean_s, losses = self.market.capacity_wait_s, self.ends["losses"]
        if mean_s == 0 or self.market.waits == "constant":
            return np.asarray(mean_s * losses)
        return np.asarray(mean_s * self.rng.standard_gamma(losses))

    def dollars(self, billed_s: Floats) -> tuple[Floats, Floats]:
        """What the machines cost, and what is taken off for those that were taken back early."""
        price = self.market.spot_usd_per_hour / HOUR
        return billed_s * price, self.ends.get("free", np.zeros(len(billed_s))) * self.unit_s * price * self.lost_share

    @property
    def lost_share(self) -> float:
        """The share of the nodes that a loss takes: only those are credited."""
        return self.market.fleet.burst_nodes / self.market.fleet.n_nodes
