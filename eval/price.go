package eval

// Price is what tokens cost, in USD per million.
type Price struct {
	Input  float64 `json:"input" yaml:"input"`
	Output float64 `json:"output" yaml:"output"`
	// CacheRead and CacheWrite are for input read from and written to the
	// server's cache; 0 means as Input.
	CacheRead  float64 `json:"cache_read,omitempty" yaml:"cache_read"`
	CacheWrite float64 `json:"cache_write,omitempty" yaml:"cache_write"`
}

// USD is what u costs; nil if the price or the usage is unknown.
func (p *Price) USD(u *Usage) *float64 {
	if p == nil || u == nil {
		return nil
	}
	or := func(v float64) float64 {
		if v == 0 {
			return p.Input
		}
		return v
	}
	usd := (float64(u.Input)*p.Input + float64(u.CacheRead)*or(p.CacheRead) +
		float64(u.CacheWrite)*or(p.CacheWrite) + float64(u.Output)*p.Output) / 1e6
	return &usd
}
