package permission

import (
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 4.15, 16.5: a rule about a path is the sandbox's for what runs confined, in every mode:
// words that name the file neither ask nor refuse before. Without a sandbox they refuse.
func TestPathRulesAreTheSandboxes(t *testing.T) {
	holds := Sandbox{ReadOnly: true, Workspace: true, Holds: true}
	deny := []string{"read(secret/**)", "edit(*.lock)", "read(~/notes)", "bash(git push *)", "read"}
	for _, m := range []Mode{Plan, AskMode, AcceptEdits, Auto} {
		p := confinedPolicy(t, m, holds, []string{"read(conf/a)"}, []string{"edit(conf/**)"}, deny[:4])
		for _, l := range []string{"cat secret/x", "tar c .", "echo x > a.lock", "sh script.sh", "echo x > conf/a"} {
			d := p.Decide(line(l))
			if d.Verdict != Allow || d.By == "rule" {
				t.Errorf("%s in %s: %s (%s)", l, m, d.Verdict, d.Reason)
			}
			var got []process.PathRule
			got = append(got, d.Confine.Rules...)
			want := []process.PathRule{
				{List: process.AllowsPath, Pattern: "/w/conf/a", Text: "read(conf/a)"}, {List: process.AsksPath, Write: true, Pattern: "/w/conf/**", Text: "edit(conf/**)"},
				{List: process.DeniesPath, Pattern: "/w/secret/**", Text: "read(secret/**)"}, {List: process.DeniesPath, Write: true, Pattern: "/w/**/*.lock", Text: "edit(*.lock)"},
				{List: process.DeniesPath, Pattern: "/home/u/notes", Text: "read(~/notes)"},
			}
			for i := range got {
				if got[i].Rank == 0 {
					t.Errorf("%s has no rank", got[i].Text)
				}
				got[i].Rank = 0
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in %s: rules %+v", l, m, got)
			}
		}
		if d := p.Decide(line("git push origin")); d.Verdict != Deny { // a rule about words
			t.Errorf("git push in %s: %s", m, d.Verdict)
		}
		unconfined := line("cat secret/x")
		unconfined.Footprint.Unconfined = true
		if d := p.Decide(unconfined); d.Verdict != Deny {
			t.Errorf("unconfined in %s: %s (%s)", m, d.Verdict, d.Reason)
		}
	}
	for _, m := range []Mode{Plan, AskMode, AcceptEdits, Auto, Yolo} {
		if d := confinedPolicy(t, m, Sandbox{}, nil, nil, deny[:1]).Decide(line("cat secret/x")); d.Verdict != Deny {
			t.Errorf("without a sandbox in %s: %s (%s)", m, d.Verdict, d.Reason)
		}
	}
	if d := confinedPolicy(t, Auto, holds, []string{"read(x)"}, nil, []string{"bash(x)"}).Decide(line("tar c .")); d.Confine.Rules != nil {
		t.Errorf("rules that take nothing away are handed over: %v", d.Confine.Rules)
	}
}

// What a rule asks about is asked when it occurs, and once: the question is about all that
// the rule names. What a person is asked about before is not asked again.
func TestPathRulesAsk(t *testing.T) {
	p := confinedPolicy(t, Auto, Sandbox{ReadOnly: true, Workspace: true, Holds: true}, nil, []string{"read(secret/**)"}, nil)
	o, v := p.Held(process.Refusal{Act: process.ActRead, What: "/w/secret/x", Rule: "read(secret/**)"}, nil)
	if v != Ask || o.String() != "read secret/**" || o.Flag() != "" {
		t.Errorf("%s, %s, flag %q", v, o, o.Flag())
	}
	if o, v = p.Held(process.Refusal{Act: process.ActWrite, What: "/w/secret/x", Rule: "edit(secret/**)"}, nil); v != Ask || o.String() != "change or delete files in secret/**" {
		t.Errorf("%s, %s", v, o)
	}
	p = confinedPolicy(t, Auto, Sandbox{ReadOnly: true, Workspace: true, Holds: true}, nil, []string{"read(/data/**)"}, nil)
	c := line("cat x")
	c.Footprint.Resolved = append(c.Footprint.Resolved, tool.ResolvedPath{Path: "/data/x", Named: "/data/x"})
	if d := p.Decide(c); d.Verdict != Ask || len(d.Confine.Rules) > 0 {
		t.Errorf("%s, rules %v", d.Verdict, d.Confine.Rules)
	}
}
