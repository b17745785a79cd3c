package window

import (
	"cmp"
	"errors"
	"time"
)

// Config is the numbers of SPEC 9; each is a key of the configuration. A zero
// value means the default.
type Config struct {
	Tokenizer string `json:"tokenizer,omitempty" jsonschema:"how tokens are counted: bpe, or estimate (faster)"`
	Status    string `json:"status,omitempty" jsonschema:"when the model is told how full the window is: auto, or always"`
	Compact   string `json:"compact,omitempty" jsonschema:"auto: older steps are summarized; off: only when the provider refuses a request as too long"`

	Moderate      float64 `json:"moderate,omitempty" jsonschema:"percent at which the level moderate begins"`
	Aggressive    float64 `json:"aggressive,omitempty" jsonschema:"percent at which the level aggressive begins"`
	Critical      float64 `json:"critical,omitempty" jsonschema:"percent at which the level critical begins"`
	CapNormal     int     `json:"cap_normal,omitempty" jsonschema:"tokens of a result in a window of 16384; it scales"`
	CapModerate   int     `json:"cap_moderate,omitempty" jsonschema:"the same at the level moderate"`
	CapAggressive int     `json:"cap_aggressive,omitempty" jsonschema:"the same at the level aggressive"`
	CapCritical   int     `json:"cap_critical,omitempty" jsonschema:"the same at the level critical"`
	CapMost       int     `json:"cap_most,omitempty" jsonschema:"tokens of a result in any window"`
	CompactAt     float64 `json:"compact_at,omitempty" jsonschema:"percent at which older steps are summarized; 50 saves a third of the cost of a long session"`
	CompactApart  float64 `json:"compact_apart,omitempty" jsonschema:"seconds between two summaries"`
	DedupAt       float64 `json:"dedup_at,omitempty" jsonschema:"percent at which references replace results that were released or read again"`
	Free          float64 `json:"free,omitempty" jsonschema:"percent that a summary must free"`
	CallsMost     int     `json:"calls_most,omitempty" jsonschema:"the largest number of remaining calls that the model is told"`
}

// Check returns an error if the configuration is invalid.
func (c Config) Check() error {
	d := c.Defaults()
	switch {
	case d.Tokenizer != "bpe" && d.Tokenizer != "estimate":
		return errors.New("window.tokenizer must be bpe or estimate")
	case d.Status != "auto" && d.Status != "always":
		return errors.New("window.status must be auto or always")
	case d.Compact != "auto" && d.Compact != "off":
		return errors.New("window.compact must be auto or off")
	case d.Moderate < 1 || d.Moderate >= d.Aggressive || d.Aggressive >= d.Critical || d.Critical > 100:
		return errors.New("window: moderate, aggressive and critical must rise, from 1 to 100 percent")
	case d.CompactAt < 10 || d.CompactAt > d.Critical, d.DedupAt < 1 || d.DedupAt > 100, d.Free < 1 || d.Free > 90:
		return errors.New("window: compact_at must be from 10 to critical, dedup_at from 1 to 100, free from 1 to 90 percent")
	case min(d.CapNormal, d.CapModerate, d.CapAggressive, d.CapCritical, d.CapMost) < minCap:
		return errors.New("window: caps of results must be at least 50 tokens")
	case d.CompactApart < 0 || d.CallsMost < 1:
		return errors.New("window: compact_apart and calls_most must be positive")
	}
	return nil
}

func (c Config) Defaults() Config {
	return Config{
		Tokenizer: cmp.Or(c.Tokenizer, "bpe"), Status: cmp.Or(c.Status, "auto"), Compact: cmp.Or(c.Compact, "auto"),
		Moderate: cmp.Or(c.Moderate, 70), Aggressive: cmp.Or(c.Aggressive, 85), Critical: cmp.Or(c.Critical, 95),
		CapNormal: cmp.Or(c.CapNormal, 1000), CapModerate: cmp.Or(c.CapModerate, 750), CapAggressive: cmp.Or(c.CapAggressive, 500), CapCritical: cmp.Or(c.CapCritical, 200),
		CapMost:   cmp.Or(c.CapMost, 16_000),
		CompactAt: cmp.Or(c.CompactAt, 90), CompactApart: cmp.Or(c.CompactApart, 180), DedupAt: cmp.Or(c.DedupAt, 80), Free: cmp.Or(c.Free, 25),
		CallsMost: cmp.Or(c.CallsMost, 50),
	}
}

// BPE reports whether tokens are counted by a byte-pair vocabulary.
func (c Config) BPE() bool { return c.Defaults().Tokenizer == "bpe" }

// off reports whether automatic compaction is off.
func (c Config) off() bool { return c.Compact == "off" }

// tier returns the tier of a window that is full to this percentage.
func (c Config) tier(percent float64) Tier {
	switch d := c.Defaults(); {
	case percent < d.Moderate:
		return Normal
	case percent < d.Aggressive:
		return Moderate
	case percent < d.Critical:
		return Aggressive
	}
	return Critical
}

// resultCap returns how many tokens of one result are shown in a window of that size.
func (c Config) resultCap(t Tier, window int) int {
	if window <= 0 {
		window = unknownWindow
	}
	d := c.Defaults()
	n := map[Tier]int{Moderate: d.CapModerate, Aggressive: d.CapAggressive, Critical: d.CapCritical}[t]
	n = cmp.Or(n, d.CapNormal)
	return max(minCap, min(d.CapMost, int(int64(n)*int64(window)/capWindow)))
}

func (c Config) minInterval() time.Duration {
	return time.Duration(c.Defaults().CompactApart * float64(time.Second))
}
