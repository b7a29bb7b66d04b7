# Reads a network as {"directed", "edges": [[from, to, weight]], "sources", "communities"}, prints what networkx says about it.
import json
import random
import sys

import networkx as nx

given = json.load(sys.stdin)
network = nx.DiGraph() if given["directed"] else nx.Graph()
network.add_weighted_edges_from(given["edges"])


class Chosen(random.Random):
    """Chooses what was chosen before."""

    def sample(self, population, k):
        assert k == len(given["sources"])
        return given["sources"]


sources = given["sources"]
between = nx.betweenness_centrality(network, k=len(sources) or None, seed=Chosen())
ranks = nx.pagerank(network, tol=1e-15, max_iter=1000)
clustered = nx.clustering(network)
parts = sorted(nx.weakly_connected_components(network) if given["directed"] else nx.connected_components(network), key=len)
groups = {}
for node, group in given["communities"]:
    groups.setdefault(group, set()).add(node)
best = [] if given["directed"] else [nx.community.louvain_communities(network, seed=seed) for seed in range(3)]
told = {
    "degree": dict(network.degree()),
    "betweenness": between,
    "pagerank": ranks,
    "clustering": clustered,
    "component_sizes": [len(part) for part in reversed(parts)],
    "modularity": None if given["directed"] else nx.community.modularity(network, groups.values()),
    "modularity_best": max((nx.community.modularity(network, groups) for groups in best), default=None),
}
json.dump(told, sys.stdout)
