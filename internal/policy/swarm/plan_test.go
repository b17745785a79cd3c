package swarm

import "testing"

// SPEC 14.2: the graph that a model gives is the last block of its reply.
func TestGraphIn(t *testing.T) {
	for reply, want := range map[string]string{
		"Here:\n```yaml\ngoal: x\n```\n":                               "goal: x\n",
		"```yaml\ngoal: x\n```":                                        "goal: x\n",
		"```\na: 1\n```\nBetter:\n```yml\ngoal: y\n```\nThat is all.":  "goal: y\n",
		"````yaml\ngoal: |\n  ```\n  code\n  ```\n````\n":              "goal: |\n  ```\n  code\n  ```\n",
		"  ```yaml\n  goal: x\n  ```\n":                                "  goal: x\n",
		"```yaml\ngoal: x\n```\nand an open one\n```yaml\ngoal: cut\n": "goal: x\n",
		"goal: x":              "",
		"":                     "",
		"```yaml\ngoal: cut\n": "",
	} {
		got, err := GraphIn(reply)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", reply, got, err)
		}
	}
	if work, ok := ReadPlanPrompt(PlanPrompt(" fix\nit ")); !ok || work != "fix\nit" {
		t.Errorf("%q, %v", work, ok)
	}
	if _, ok := ReadPlanPrompt("fix it"); ok {
		t.Error("any prompt is taken for one that asks for a graph")
	}
}
