// Package pareto is the mathematics by which evolve compares candidates and
// decides: fronts over several objectives, instance fronts for choosing
// parents, and evidence that may be looked at after every case.
//
// It is pure: no input or output, no clock, no randomness of its own (if
// chance is needed, a *rand.Rand is a parameter). It does not depend on
// skills, agents or stores.
//
// # Fronts
//
// A [Point] holds one candidate's objectives, each oriented so that larger is
// better; NaN is unknown. [Dominates], [Front], [Knee] and [Hypervolume] work
// on points. [Instances] holds candidates × cases and samples parents as GEPA
// does (Agrawal et al. 2025, arXiv:2507.19457, Algorithm 2).
//
// # Evidence
//
// A [Process] is an e-process: capital won by betting against "the mean
// difference is not positive". Ville's inequality bounds the chance that it
// ever reaches 1/α by α when that hypothesis is true, so it can be watched
// case by case, stopped at will, and continued another night. A [Trial]
// combines several of them into one decision: promote, reject, promising or
// undecided.
//
// A change that applies to some requests only, a rule in a file of instructions, has a trial
// about those, and a second sample of the others ([Trial.AddRest], [Config.WithRest]). What is
// bounded: a text that is not better where it applies is promoted with probability at most the
// sum of the levels, whatever it does elsewhere; one that is worse elsewhere by the margin (10
// points) or more with probability at most [Config.Rest]'s level, whatever it does where it
// applies. A promotion needs both to be refuted, so neither level is divided, and the two
// samples need not be independent: one session may have requests of both kinds. Which kind
// a request is must be decided before it is replayed; decisions that are wrong change what
// the two means are about, and not how often they are misjudged. What is worse elsewhere by less
// than the margin may be promoted: of a change that applies to one request in twenty, harm
// elsewhere outweighs the gain from a nineteenth of it on, and no trial of this size excludes that.
//
// [Compare] turns the same bets around into an interval that holds at every
// sample size. [Forecast] estimates how many cases a decision is likely to
// need, and [LOND] spends one error rate over a lifetime of decisions.
//
// Sources: Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting" (JRSS B 2023, arXiv:2010.09686); Ville, "Étude
// critique de la notion de collectif" (1939); Ramdas, Grünwald, Vovk and
// Shafer, "Game-theoretic statistics and safe anytime-valid inference" (2023,
// arXiv:2210.01948).
package pareto
