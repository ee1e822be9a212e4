//go:build !unix

package process

import "slices"

func wrap(c Command) (path string, args, env []string, stop func() error, err error) {
	if c.Sandbox != nil {
		return "", nil, nil, nil, Available()
	}
	return c.Path, slices.Clone(c.Args), slices.Clone(c.Env), func() error { return nil }, nil
}
