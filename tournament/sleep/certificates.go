package sleep

// Certificate is what is known of a version on a model: a new one where nothing
// is.
func (s *State) Certificate(version, previous string, on Model) Certificate {
	if k := s.certificate(version, on); k >= 0 {
		return s.Certificates[k]
	}
	return Certificate{Version: version, Previous: previous, Model: on}
}

// certificate is the place of the one on a model, the newest where that may be
// several; -1 for none.
func (s *State) certificate(version string, on Model) int {
	for k := len(s.Certificates) - 1; k >= 0; k-- {
		if c := &s.Certificates[k]; c.Version == version && alike(on, c.Model) {
			return k
		}
	}
	return -1
}

// certify keeps a certificate in the place of what was known.
func (s *State) certify(c Certificate, on Model) {
	if k := s.certificate(c.Version, on); k >= 0 {
		s.Certificates[k] = c
		return
	}
	s.Certificates = append(s.Certificates, c)
}

// Stand leaves only the certificates that say something today: about this model
// (the zero Model: about any), and as far as they rest on no judge that is not
// trusted.
func (s *State) Stand(on Model, trusts func(judge string) bool) {
	var kept []Certificate
	for _, c := range s.Certificates {
		if on.Agent == "" || alike(on, c.Model) {
			kept = append(kept, c.Recount(trusts))
		}
	}
	s.Certificates = kept
}

// Retiring is the certificate by which the installed version is proposed for
// retirement, nil for none: the last word on it counts.
func (s *State) Retiring(version string) *Certificate {
	for k := len(s.Certificates) - 1; k >= 0; k-- {
		if c := &s.Certificates[k]; c.Version == version && c.Lift != LiftOpen {
			if c.Lift == NoLift {
				return c
			}
			return nil
		}
	}
	return nil
}
