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
