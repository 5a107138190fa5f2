"""How do the losses of many machines become losses of one job? Nodes, bursts, shocks and spares.

- Real preemptions come in bursts: losses that take several nodes at once are fewer than single ones would be, and a job
  that counts nodes as independent is too pessimistic.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from costkit.units import require_not_negative, require_positive, require_whole


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """The nodes of a job.

    Args:
        n_nodes: Nodes that can be lost one by one.
        burst_nodes: Mean number of nodes that one loss takes.
        is_elastic: Whether the job goes on with the nodes that are left; else it stands still until all are back.
        keeps_survivors: Whether a job that stands still goes on paying for the nodes that it still has.
        is_settled: Whether an elastic job begins with as many nodes down as there are in the long run, and not with
            all of them up and new; for exponential lives.
    """

    n_nodes: int = 1
    burst_nodes: float = 1.0
    is_elastic: bool = False
    keeps_survivors: bool = False
    is_settled: bool = False

    def __post_init__(self) -> None:
        require_whole(self.n_nodes, "n_nodes", "nodes")
        require_burst(self.burst_nodes, self.n_nodes)

    @property
    def kept_fraction(self) -> float:
        """The share of the nodes that is paid for while the job waits for the rest."""
        return 1 - self.burst_nodes / self.n_nodes if self.keeps_survivors else 0.0


def require_burst(burst_nodes: float, n_nodes: float) -> None:
    """Refuse a burst that takes less than one node, or more than there are."""
    require_positive(burst_nodes, "burst_nodes", "nodes")
    if not 1 <= burst_nodes <= n_nodes:
        raise ValueError(f"burst_nodes must be from 1 to the {n_nodes:g} nodes of the job, not {burst_nodes:g}.")


def job_life_s(*, node_life_s: float, n_nodes: float, burst_nodes: float = 1.0, zone_life_s: float = math.inf) -> float:
    """Mean time between losses of a job that stops when any of its nodes is lost.

    1 / M_job = n / (M_node b) + 1 / M_zone: each loss takes b nodes on average, and `zone_life_s` is the mean time
    between shocks that take the whole zone besides (Marshall and Olkin 1967).

    >>> job_life_s(node_life_s=24 * 3600, n_nodes=4) / 3600
    6.0
    """
    require_positive(node_life_s, "node_life_s", "seconds")
    require_positive(n_nodes, "n_nodes", "nodes")
    require_burst(burst_nodes, n_nodes)
    if zone_life_s != math.inf:
        require_positive(zone_life_s, "zone_life_s", "seconds, or inf for no shocks,")
    return 1 / (n_nodes / (node_life_s * burst_nodes) + 1 / zone_life_s)


def blocked_fraction(*, n_nodes: int, spare_nodes: int, node_life_s: float, node_wait_s: float) -> float:
    """The share of time in which hot spares do not make up for the nodes that are down.

    P(X > s), X ~ Binomial(n + s, a / (M + a)), for nodes that fail independently; bursts make it worse.

    >>> round(blocked_fraction(n_nodes=8, spare_nodes=2, node_life_s=36000, node_wait_s=1800), 6)
    0.010065
    """
    from scipy import stats

    require_whole(n_nodes, "n_nodes", "nodes")
    require_whole(spare_nodes, "spare_nodes", "nodes", least=0)
    require_positive(node_life_s, "node_life_s", "seconds")
    require_not_negative(node_wait_s, "node_wait_s", "seconds")
    down = node_wait_s / (node_life_s + node_wait_s)
    return float(stats.binom.sf(spare_nodes, n_nodes + spare_nodes, down))
