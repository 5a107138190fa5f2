"""What if the job goes on with the nodes that are left? Trials in lockstep: one loss or return of a node at a time.

- Speed is the share of the nodes that are up: the global batch stays, so fewer nodes take longer for a step.
- A preemption takes each other node that is up with the same probability, so that it takes a burst of the fleet's mean
  at full strength; what it took comes back together after one wait. A hardware failure takes one node.
- The nodes that are left regroup for as long as a restart takes; so they do when nodes come back.
- Only where all are lost at once, or one after the other, does the job fall back to the last saved state.
- Nodes that are up are paid for, regrouping or not. The market's mean life is that between losses at full strength.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from costkit.spot.jobs import Job, Market
from costkit.spot.outcomes import without_rounding
from costkit.spot.trace import Flags, Floats
from costkit.units import HOUR

_DEAD_SHARE = 4


def run(job: Job, market: Market, n_trials: int, rng: np.random.Generator, give_up: float) -> dict[str, Any]:
    """The arrays of `Outcomes`."""
    for what, is_given in (
        ("prices that move", market.billing.prices is not None),
        ("a joint law", market.law.name == "joint"),
        ("keeps_survivors", market.fleet.keeps_survivors),
    ):
        if is_given:
            raise ValueError(f"an elastic job is simulated without {what}: leave that out, or set is_elastic=False.")
    trials = _Elastic(job, market, n_trials, rng, give_up)
    if market.fleet.is_settled:
        trials.settle()
    return trials.run()


class _Elastic:
    """Times in seconds, positions in segments; arrays of shape (trials,) or (trials, nodes)."""

    SUMS = (
        "clock",
        "billed",
        "regrouped",
        "losses",
        "free",
        "waited",
        "notice",
        "failures",
        "position",
        "saved",
        "resume",
    )

    def __init__(self, job: Job, market: Market, n: int, rng: np.random.Generator, give_up: float) -> None:
        self.job, self.market, self.rng, self.law = job, market, rng, market.law
        self.n_nodes = int(market.fleet.n_nodes)
        self.joined_share = (market.fleet.burst_nodes - 1) / max(self.n_nodes - 1, 1)
        self.length = job.n_full_segments + job.last_segment_s / job.segment_s
        self.restart_s = job.restart_s + market.provision_s
        self.most_s = give_up * job.ideal_s
        self.trial = np.arange(n)
        self.sums = {name: np.zeros(n) for name in self.SUMS}
        self.up = np.ones((n, self.n_nodes), bool)
        self.born = np.zeros((n, self.n_nodes))
        self.next, self.failing = (one.reshape(n, self.n_nodes) for one in self.lives(n * self.n_nodes))
        self.ends = {name: np.zeros(n) for name in self.SUMS}
        self.finished = np.zeros(n, bool)

    def lives(self, n: int) -> tuple[Floats, Flags]:
        """Life times of nodes, and which end in a hardware failure.

        The job's mean life is that of all nodes together, so each node's is as many times longer.
        """
        drawn = np.empty(n)
        self.law.draw(self.rng, drawn)
        drawn *= self.market.mean_life_s * self.n_nodes
        if self.market.hardware_life_s == math.inf:
            return drawn, np.zeros(n, bool)
        until = self.rng.standard_exponential(n) * (self.market.hardware_life_s * self.n_nodes)
        return np.minimum(drawn, until), until < drawn

    def settle(self) -> None:
        """Let nodes be down, and of an age, as they are in the long run; exact for exponential lives and waits."""
        fleet = self.market.fleet
        life_s = self.market.loss_life_s * self.n_nodes / fleet.burst_nodes
        away_s = self.market.capacity_wait_s + self.market.notice_s
        down = self.rng.random(self.up.shape) < away_s / (life_s + away_s)
        down[down.all(axis=1), 0] = False
        self.next = np.where(down, self.rng.standard_exponential(self.up.shape) * away_s, self.next)
        self.born = -self.rng.standard_exponential(self.up.shape) * life_s
        self.up &= ~down

    def run(self) -> dict[str, Any]:
        while self.trial.size:
            self.step()
        return self.outcome()

    def step(self) -> None:
        """The next loss or return of a node in every trial."""
        node = self.next.argmin(axis=1)
        rows = np.arange(len(node))
        until = self.next[rows, node]
        is_loss = self.up[rows, node]
        done = self.advance(until)
        self.lose(is_loss & ~done, node)
        self.give_back(~is_loss & ~done, until)
        self.take_out(done | (self.sums["clock"] - self.sums["waited"] > self.most_s), done)

    def advance(self, until: Floats) -> Flags:
        """Work until then at the speed of the nodes that are up; which trials get to the end before."""
        sums, share = self.sums, self.up.mean(axis=1)
        start = np.maximum(sums["clock"], np.minimum(sums["resume"], until))
        gained = (until - start) * share / self.job.segment_s
        done = (sums["position"] + gained >= self.length) & (share > 0)
        safe = np.where(share > 0, share, 1.0)
        end = np.where(done, start + (self.length - sums["position"]) * self.job.segment_s / safe, until)
        sums["regrouped"] += (np.minimum(start, end) - sums["clock"]) * share
        sums["billed"] += (end - sums["clock"]) * share
        sums["waited"] += (end - sums["clock"]) * (1 - share)
        sums["position"] += np.where(done, 0.0, gained)
        sums["clock"] = end
        return np.asarray(done)

    def lose(self, lost: Flags, node: Any) -> None:
        """Take a burst of nodes away."""
        rows = np.flatnonzero(lost)
        if not rows.size:
            return
        sums, up, market = self.sums, self.up[rows], self.market
        failed = self.failing[rows, node[rows]]
        taken = np.zeros_like(up)
        if self.joined_share:
            taken = up & (self.rng.random(up.shape, dtype=np.float32) < self.joined_share) & ~failed[:, None]
        taken[np.arange(len(rows)), node[rows]] = True
        clock = sums["clock"][rows]
        notice_s = market.notice_s * ~failed
        away = notice_s + self.waits(len(rows))
        age = (clock + notice_s)[:, None] - self.born[rows]
        if market.billing.first_hour_free:
            sums["free"][rows] += (age * (taken & (age < HOUR))).sum(axis=1) / self.n_nodes * ~failed
        sums["notice"][rows] += notice_s * taken.mean(axis=1)
        sums["waited"][rows] -= notice_s * taken.mean(axis=1)
        sums["losses"][rows] += 1
        sums["failures"][rows] += failed
        self.next[rows] = np.where(taken, (clock + away)[:, None], self.next[rows])
        self.up[rows] = up & ~taken
        none_left = ~self.up[rows].any(axis=1)
        saved = (self.rng.random(len(rows)) < market.notice_success) & ~failed
        position, before = sums["position"][rows], sums["saved"][rows]
        kept = np.where(saved, position, np.maximum(before, np.floor(position)))
        sums["saved"][rows] = np.where(none_left, kept, before)
        sums["position"][rows] = np.where(none_left, kept, position)
        sums["resume"][rows] = clock + self.restart_s

    def waits(self, n: int) -> Floats:
        mean_s = self.market.capacity_wait_s
        return mean_s * (np.ones(n) if self.market.waits == "constant" else self.rng.standard_exponential(n))

    def give_back(self, returned: Flags, until: Floats) -> None:
        """Let the nodes that went together come back together."""
        rows = np.flatnonzero(returned)
        if not rows.size:
            return
        moment = until[rows]
        back = ~self.up[rows] & (self.next[rows] == moment[:, None])
        lives, failing = self.lives(int(back.sum()))
        due, born, how = self.next[rows], self.born[rows], self.failing[rows]
        born[back] = np.repeat(moment, back.sum(axis=1))
        due[back], how[back] = born[back] + lives, failing
        self.next[rows], self.born[rows], self.failing[rows] = due, born, how
        self.up[rows] |= back
        self.sums["resume"][rows] = moment + self.restart_s

    def take_out(self, leaving: Flags, done: Flags) -> None:
        """Write down the trials that are done, or given up."""
        if not leaving.any():
            return
        which = self.trial[leaving]
        for name, total in self.sums.items():
            self.ends[name][which] = total[leaving]
        self.finished[which] = done[leaving]
        stay = ~leaving
        for name in ("trial", "up", "next", "born", "failing"):
            setattr(self, name, getattr(self, name)[stay])
        self.sums = {name: total[stay] for name, total in self.sums.items()}

    def outcome(self) -> dict[str, Any]:
        ends, market, finished = self.ends, self.market, self.finished
        price = market.spot_usd_per_hour / HOUR
        billed_s = ends["billed"] + ends["notice"]
        kept_s = (self.job.work_s + self.job.n_checkpoints * self.job.checkpoint_write_s) * finished
        restart_s = ends["regrouped"]
        machine_usd, credit_usd = billed_s * price, ends["free"] * price
        return {
            "billed_s": billed_s,
            "losses": ends["losses"],
            "hardware_failures": ends["failures"],
            "lost_s": without_rounding(billed_s - kept_s - restart_s - ends["notice"], billed_s),
            "restart_s": restart_s,
            "notice_s": ends["notice"],
            "waiting_s": ends["waited"],
            "machine_usd": machine_usd,
            "credit_usd": credit_usd,
            "finished": finished,
        }
