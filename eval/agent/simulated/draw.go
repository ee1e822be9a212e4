package simulated

import (
	"math"
	"time"
)

// A Draw is a stream of random numbers that is named by what it is for. It is
// splitmix64 (Steele, Lea, Flood 2014): a state of one word, so that a task
// needs no allocation and no lock.
type Draw uint64

// NewDraw names a stream by its parts, in order.
func NewDraw(parts ...uint64) Draw {
	var d Draw
	for _, p := range parts {
		d = Draw(d.next() ^ p)
	}
	return d
}

func (d *Draw) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float is uniform in [0,1).
func (d *Draw) float() float64 { return float64(d.next()>>11) / (1 << 53) }

// hit is true with probability p.
func (d *Draw) hit(p float64) bool { return d.float() < p }

// Below is uniform in [0,n); n must be positive. The bias is below 2⁻⁵⁰ for
// the few hundred choices there ever are.
func (d *Draw) Below(n int) int { return int(d.next() % uint64(n)) }

// Shuffle permutes s.
func Shuffle[T any](d *Draw, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := d.Below(i + 1)
		s[i], s[j] = s[j], s[i]
	}
}

// duration is how long a call of so many tokens says that it took.
func (r Rates) duration(d *Draw, in, out int) time.Duration {
	t := float64(r.Base) + float64(in)*float64(r.PerInput) + float64(out)*float64(r.PerOutput)
	if r.Jitter > 0 { // Box–Muller; 1−u keeps the logarithm finite
		n := math.Sqrt(-2*math.Log(1-d.float())) * math.Cos(2*math.Pi*d.float())
		t *= math.Exp(r.Jitter * n)
	}
	return time.Duration(t)
}

// usd is what a call of so many tokens costs, in simulated dollars.
func (r Rates) usd(in, out int) float64 {
	return float64(in)*r.InputUSD + float64(out)*r.OutputUSD
}
