// Package kit is what any hook needs, evolve's own and those that people write: it reads
// one JSON value from stdin, appends lines once to a bus that many processes share,
// replaces files as a whole, and keeps a short log.
//
// An agent waits for every hook, and most of its time is the start of the process. So
// nothing is computed when the package is loaded, and it knows no other package of evolve.
package kit
