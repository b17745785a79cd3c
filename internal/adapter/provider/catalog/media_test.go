package catalog

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

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

// mediaKeys has what every provider here needs.
var mediaKeys = env("ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "GEMINI_API_KEY=k", "OPENROUTER_API_KEY=k", "MISTRAL_API_KEY=k", "XAI_API_KEY=k",
	"PAWL_BASE_URL=http://x", "AWS_REGION=us-east-1", "AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com/")

// SPEC 17.2, 17.7: which models take PDF documents and audio, and in which form each API is
// sent them, in a prompt and in a result. What it has no form for, nobody can turn on.
func TestDocuments(t *testing.T) {
	const (
		bytes     = "JVBERi0x" // %PDF-1
		anthropic = `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0x"}}`
		inline    = `{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0x"}}`
		chat      = `{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,JVBERi0x"}}`
		responses = `{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,JVBERi0x"}`
		sound     = `{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}`
		heard     = `{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}`
	)
	yes := true
	all := map[string]Override{"qwen2.5vl:7b": {PDF: &yes, Audio: &yes}, "my-own": {PDF: &yes, Audio: &yes}, "claude-opus-5": {Audio: &yes}}
	pdf, wav := llm.Media{Type: "application/pdf", Data: []byte("%PDF-1")}, llm.Media{Type: "audio/wav", Data: []byte("RIFF")}
	for _, c := range []struct {
		flag       string
		pdf, audio string // "": it takes none
	}{
		{"anthropic/claude-opus-5", anthropic, ""},
		{"bedrock/us.anthropic.claude-opus-4-8", anthropic, ""},
		{"openai/gpt-5", responses, ""},
		{"openai-chat/gpt-5", chat, ""},
		{"openai-chat/gpt-audio", chat, sound},
		{"azure/gpt-5", responses, ""},
		{"azure-chat/gpt-5", "", ""},
		{"gemini/gemini-2.5-pro", inline, heard},
		{"openrouter/anthropic/claude-sonnet-5.5", chat, ""},
		{"openrouter/google/gemini-2.5-pro", chat, sound},
		{"openrouter/mistralai/mistral-large", "", ""},
		{"xai/grok-4.5", "", ""},
		{"mistral/mistral-medium-3.5", "", ""},
		{"ollama/qwen2.5vl:7b", "", ""},
		{"openai-compatible/claude-opus-5", "", ""},
		{"openai-compatible/my-own", chat, sound},
	} {
		got, err := Resolve(Want{Flag: c.flag, Config: Config{Models: all}, Env: mediaKeys})
		if err != nil || got.Info.PDF != (c.pdf != "") || got.Info.Audio != (c.audio != "") && c.flag != "openai-compatible/claude-opus-5" {
			t.Errorf("%s: PDF %v, audio %v, %v", c.flag, got.Info.PDF, got.Info.Audio, err)
			continue
		}
		api := must.Get(got.api())(t)
		encode := func(ms ...llm.Message) string {
			b := must.Get(api.Step(ms, false))(t)
			if !json.Valid([]byte("[" + string(b) + "]")) {
				t.Errorf("%s: %s", c.flag, b)
			}
			return string(b)
		}
		for media, want := range map[*llm.Media]string{&pdf: c.pdf, &wav: c.audio} {
			if want == "" {
				continue
			}
			said := encode(llm.Message{Role: llm.User, Parts: []llm.Part{media.Part(), llm.TextPart("look")}})
			call := llm.NewCall("toolu_1", "play", "{}")
			result := llm.Part{Kind: llm.Output, Result: &llm.Result{ID: "toolu_1", Name: "play", Text: "here", Images: []llm.Media{*media}}}
			done := encode(llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &call}}}, llm.Message{Role: llm.Tool, Parts: []llm.Part{result}})
			if !strings.Contains(said, want) || !strings.Contains(done, want) {
				t.Errorf("%s: %s misses\n%s\n%s", c.flag, want, said, done)
			}
		}
		if c.flag == "ollama/qwen2.5vl:7b" && strings.Contains(encode(llm.Message{Role: llm.User, Parts: []llm.Part{pdf.Part(), llm.TextPart("look")}}), bytes) {
			t.Errorf("%s: the PDF is sent as an image", c.flag)
		}
	}
}
