package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// loadState reads what an earlier process left; a file that is not there yet is an empty cloud.
func loadState(file string) (state, error) {
	s := state{file: file, Machines: map[string]machine{}, Balancers: map[string]balancer{}, Routes: map[string]route{}}
	if file == "" {
		return s, nil
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the state: %w", err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("read the state %s: %w", file, err)
	}
	return s, nil
}

// save replaces the file at once, so that a process which ends meanwhile leaves a whole one.
func (s *state) save() error {
	if s.file == "" {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.WriteFile(s.file+".new", text, 0o600); err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}
	return os.Rename(s.file+".new", s.file)
}
