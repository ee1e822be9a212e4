package eval

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/skill-evolve/evolve/eval/wallclock"
)

// Metered is a Model whose every call passes through a Budget, is made again while the
// infrastructure fails, and is recorded, so that a resumed run reads the same reply and
// pays nothing for it. Mutator and miner use one; a judge does not (see Checks.Judge).
//
// Prompts are redacted before they are sent, and replies before they are stored or
// returned: a model may make up what looks like a secret, or repeat its key.
type Metered struct {
	Model    Model
	By       Spender
	Budget   *Budget  // nil: no caps
	Recorder Recorder // nil: nothing is kept
	Redactor Redactor // nil: nothing is changed
	// Scope keeps records of different runs apart, if a Recorder does not.
	Scope      string
	Limiter    *rate.Limiter // nil: no limit
	WallClock  time.Duration // for one call; 0 is no limit. Exceeding it is an infrastructure failure
	InfraTries int           // 0 means 5
}

var _ Model = (*Metered)(nil)

// Identity is the wrapped model's.
func (m *Metered) Identity() Identity { return m.Model.Identity() }

// Complete returns the recorded reply to p, or calls the model. Errors are a
// *BudgetError, the *InfraError of the last try, ctx's, or the Recorder's. One of kind
// Pending is returned at once, and nothing is charged for it.
func (m *Metered) Complete(ctx context.Context, p Prompt) (Completion, error) {
	p.System, p.User = redact(m.Redactor, p.System), redact(m.Redactor, p.User)
	key := m.key(p)
	name := hex.EncodeToString(key[:])
	if m.Recorder != nil {
		if err := m.Budget.recallLost(ctx, m.Recorder, m.By, name); err != nil {
			return Completion{}, fmt.Errorf("look up what a call lost: %w", err)
		}
		c, err := m.Recorder.Completion(ctx, name)
		if err != nil {
			return Completion{}, fmt.Errorf("look up completion: %w", err)
		}
		if c != nil {
			if m.Budget != nil {
				took := oneCall(m.By, Cost{c.Usage, c.CostUSD})
				took.lines[0].prompt, took.simulated = p.tokens(), m.Identity().Simulated
				m.Budget.chargeOnce(key, &took)
			}
			return *c, nil
		}
	}

	c, err := m.ask(ctx, p, key)
	if err != nil {
		return Completion{}, err
	}
	if m.Recorder != nil {
		// The call is paid for, so its reply is stored even if the run was interrupted.
		if err := m.Recorder.SaveCompletion(context.WithoutCancel(ctx), name, m.By, &c); err != nil {
			return Completion{}, fmt.Errorf("save completion: %w", err)
		}
		m.Budget.end(context.WithoutCancel(ctx), name)
	}
	return c, nil
}

// Key is what the Recorder knows the reply to p by.
func (m *Metered) Key(p Prompt) string {
	p.System, p.User = redact(m.Redactor, p.System), redact(m.Redactor, p.User)
	key := m.key(p)
	return hex.EncodeToString(key[:])
}

func (m *Metered) key(p Prompt) hash {
	return hashJSON("completion/1", struct {
		Scope  string
		By     Spender
		Model  Identity
		Prompt Prompt
	}{m.Scope, m.By, m.Model.Identity(), p})
}

// keepLost records the usage of one failed call. This process books it with the last
// try.
func (m *Metered) keepLost(ctx context.Context, of hash, lost Lost) error {
	if m.Recorder == nil || m.Budget == nil {
		return nil
	}
	key, err := keepLost(ctx, m.Recorder, m.By, hex.EncodeToString(of[:]), lost, 0)
	if err != nil {
		return fmt.Errorf("save what a call lost: %w", err)
	}
	if key != nil {
		m.Budget.note(*key)
	}
	return nil
}

func (m *Metered) ask(ctx context.Context, p Prompt, key hash) (c Completion, err error) {
	var res *Reservation
	if m.Budget != nil {
		if res, err = m.Budget.acquire(ctx, m.By, Cost{}, question{p.tokens(), int64(p.MaxTokens)}); err != nil {
			return c, err
		}
		res.simulated = m.Identity().Simulated
		defer func() {
			if err != nil {
				res.Release()
			}
		}()
		if m.Recorder != nil {
			name := hex.EncodeToString(key[:])
			if err := m.Budget.begin(name, res.demand); err != nil {
				return c, err
			}
			defer func() {
				if err != nil { // what it lost is recorded
					m.Budget.end(ctx, name)
				}
			}()
		}
	}
	var lost Lost
	told := 0
	defer func() { m.Budget.chargeFailed(m.By, told, lost) }()
	var failed int // not stored if they used nothing
	err = persist(ctx, m.Budget, m.InfraTries, &failed, &lost, func() error {
		if m.Limiter != nil {
			if err := m.Limiter.Wait(ctx); err != nil {
				return fatal{fmt.Errorf("wait for the rate limit: %w", err)}
			}
		}
		ranOut, err := wallclock.Within(ctx, time.Time{}, m.WallClock, func(ctx context.Context) (err error) {
			c, err = m.Model.Complete(ctx, p)
			return err
		})
		if err != nil && !IsPending(err) {
			var one Lost
			if one.lose(Cost{c.Usage, c.CostUSD}); one != (Lost{}) {
				lost.lose(Cost{one.LostUsage, one.LostUSD})
				told++
				if kerr := m.keepLost(ctx, key, one); kerr != nil {
					return fatal{kerr}
				}
			}
		}
		if err != nil && ranOut && !errors.As(err, new(*InfraError)) {
			err = Infraf(Unreachable, "no end of the reply within %v", m.WallClock)
		}
		return err
	})
	if err != nil {
		return c, fmt.Errorf("ask the %s model: %w", m.By, err)
	}
	took := Cost{c.Usage, c.CostUSD}
	c.Usage, c.CostUSD = believable(c.Usage, c.CostUSD)
	c.Text = redact(m.Redactor, c.Text)
	if res != nil {
		res.end(took, &key)
	}
	return c, nil
}
