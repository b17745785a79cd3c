package catalog

import "testing"

// SPEC 17.7: who takes images is a fact of the catalog, by the name of a model or by the
// person's word; an unknown name takes none.
func TestImages(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		flag string
		conf map[string]Override
		want bool
	}{
		{"anthropic/claude-sonnet-5-5", nil, true},
		{"anthropic/claude-new-9", nil, true},
		{"bedrock/us.anthropic.claude-opus-4-8", nil, true},
		{"deepseek/deepseek-v4-pro", nil, false},
		{"mistral/codestral-latest", nil, false},
		{"ollama/qwen3-coder:30b", nil, false},
		{"ollama/qwen2.5vl:7b", nil, true},
		{"ollama/qwen3-vl:8b", nil, true},
		{"ollama/gemma3:27b", nil, true},
		{"ollama/llama3.2-vision:11b", nil, true},
		{"lmstudio/mistralai/pixtral-12b", nil, true},
		{"vllm/some/vlad-7b", nil, false},
		{"openai-compatible/my-own", nil, false},
		{"openai-compatible/my-own", map[string]Override{"openai-compatible/my-own": {Images: &yes}}, true},
		{"anthropic/claude-sonnet-5-5", map[string]Override{"claude-sonnet-5-5": {Images: &no}}, false},
	} {
		got, err := Resolve(Want{Flag: c.flag, Config: Config{Models: c.conf}, Env: env("ANTHROPIC_API_KEY=k", "DEEPSEEK_API_KEY=k", "MISTRAL_API_KEY=k", "PAWL_BASE_URL=http://x", "AWS_REGION=us-east-1")})
		if err != nil || got.Info.Images != c.want {
			t.Errorf("%s %v: %v %v", c.flag, c.conf, got.Info.Images, err)
		}
	}
}
