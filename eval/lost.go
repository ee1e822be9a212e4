package eval

// Lost is known usage that is in no sum: that of calls that failed in the
// infrastructure after they had begun, and of calls whose sum with others is unknown
// because another reported nothing. It counts for the budget, and for no objective. The
// zero value is nothing.
type Lost struct {
	LostUsage *Usage   `json:"lost_usage,omitempty"`
	LostUSD   *float64 `json:"lost_usd,omitempty"`
}

// lose adds the known parts of c.
func (l *Lost) lose(c Cost) {
	c = c.believable()
	if c.Usage != nil && c.Usage.Total() > 0 {
		sum := *c.Usage
		if l.LostUsage != nil {
			sum = sum.Add(*l.LostUsage)
		}
		l.LostUsage = &sum
	}
	if c.USD != nil && *c.USD > 0 {
		sum := *c.USD
		if l.LostUSD != nil {
			sum += *l.LostUSD
		}
		l.LostUSD = &sum
	}
}

// sum adds c to usage and usd. A sum with an unknown part is unknown; its known part is
// added to l.
func (l *Lost) sum(usage **Usage, usd **float64, c Cost) {
	if *usage == nil || c.Usage == nil {
		l.lose(Cost{Usage: *usage})
		l.lose(Cost{Usage: c.Usage})
		*usage = nil
	} else {
		sum := (*usage).Add(*c.Usage)
		*usage = &sum
	}
	if *usd == nil || c.USD == nil {
		l.lose(Cost{USD: *usd})
		l.lose(Cost{USD: c.USD})
		*usd = nil
	} else {
		sum := **usd + *c.USD
		*usd = &sum
	}
}

// known adds lost to a line whose calls are counted already.
func (l *billLine) known(lost Lost) {
	c := Cost{lost.LostUsage, lost.LostUSD}.believable()
	if c.Usage != nil {
		l.usage = l.usage.Add(*c.Usage)
	}
	if c.USD != nil {
		l.usd += *c.USD
	}
}

// chargeFailed books calls that failed after they had used tokens.
func (b *Budget) chargeFailed(by Spender, calls int, lost Lost) {
	if b == nil || calls == 0 {
		return
	}
	took := bill{lines: [2]billLine{{by: by, calls: int64(calls)}}}
	took.lines[0].known(lost)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.book(&took)
}
