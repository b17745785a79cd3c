package route

import (
	"strings"
	"unicode"
)

// foreign judges a sentence of a few other languages by their most common words. Unknown
// sentences are left to the default.
func foreign(s sentence) (Match, bool) {
	if len(s.words) == 0 {
		return Match{}, false
	}
	if han(s.text) {
		return unspaced(s.text)
	}
	for i, w := range s.words[:min(len(s.words), 4)] {
		next := ""
		if i+1 < len(s.words) {
			next = s.words[i+1]
		}
		if route := foreignWord(w, next); route != "" && (i == 0 || isCourtesy(s.words[:i])) {
			return Match{Route: route, Why: w}, true
		}
	}
	return Match{}, false
}

// isCourtesy: words that a request may begin with.
func isCourtesy(words []string) bool {
	for _, w := range words {
		switch w {
		case ",", "bitte", "mal", "kannst", "könntest", "du", "mir", "peux-tu", "pouvez-vous", "puedes", "por", "favor", "s'il", "te", "plaît", "y", "et", "und", "dann", "пожалуйста", "можешь":
		default:
			return false
		}
	}
	return true
}

// foreignWord returns the route of the word that a request begins with.
func foreignWord(w, next string) string {
	switch w {
	case "warum", "wieso", "weshalb", "was", "wie", "wo", "wer", "welche", "welcher", "welches", "wann":
		if w == "was" && englishAfterWas(next) {
			return ""
		}
		return Read
	case "erkläre", "erklär", "beschreibe", "zeige", "zeig", "liste", "suche", "finde", "fasse",
		"pourquoi", "comment", "où", "qui", "quel", "quelle", "quels", "quelles", "qu'est-ce", "est-ce", "explique", "explique-moi", "expliquez", "décris", "montre", "montre-moi", "résume",
		"qué", "cómo", "dónde", "quién", "cuál", "cuándo", "explica", "explícame", "describe", "muestra", "muéstrame", "resume",
		"что", "почему", "как", "где", "кто", "зачем", "какой", "какие", "куда", "объясни", "покажи", "опиши", "изучи",
		"perché", "cosa", "dove", "spiega", "spiegami", "qual":
		if w == "comment" && (next == "out" || next == "the" || next == "on" || next == "every" || next == "all" || next == "this") || w == "describe" || w == "resume" || w == "explique" && next == "" {
			return ""
		}
		return Read
	case "por":
		if next == "qué" || next == "que" {
			return Read
		}
	case "füge", "behebe", "ändere", "schreibe", "schreib", "erstelle", "entferne", "lösche", "benenne", "ersetze", "repariere", "verbessere", "implementiere", "mach", "mache", "aktualisiere",
		"ajoute", "ajoutez", "créez", "ajouter", "corrige", "corrigez", "supprime", "remplace", "renomme", "crée", "modifie", "écris", "améliore",
		"añade", "agrega", "arregla", "elimina", "borra", "cambia", "crea", "escribe", "reemplaza", "renombra", "mejora",
		"исправь", "добавь", "удали", "измени", "напиши", "создай", "переименуй", "замени", "реализуй", "сделай", "релизуй",
		"aggiungi", "correggi", "rimuovi", "scrivi":
		return Edit
	case "führe", "starte", "baue", "exécute", "lance", "ejecuta", "запусти", "выполни", "esegui":
		return Run
	}
	return ""
}

// englishAfterWas: "was the fix merged?"
func englishAfterWas(next string) bool {
	switch next {
	case "the", "this", "that", "it", "there", "a", "an", "any", "my", "our", "your", "i", "he", "she":
		return true
	}
	return false
}

// forbidden finds the words of a few other languages for "change nothing".
func forbidden(s sentence) negation {
	low := strings.Join(s.words, " ")
	if !strings.ContainsFunc(low, func(r rune) bool { return r > unicode.MaxASCII }) && !strings.Contains(low, "nicht") && !strings.Contains(low, "rien") && !strings.Contains(low, "nada") {
		return negation{}
	}
	for _, other := range [...]string{"else", "ander", "sonst", "autre", "otro", "otra", "друг", "остальн", "其他", "其它", "别的", "ほか", "他の", "다른"} {
		if strings.Contains(low, other) {
			return negation{}
		}
	}
	for _, no := range [...]string{
		"ändere nichts", "nichts ändern", "nichts verändern", "ne change rien", "ne modifie rien", "ne changez rien", "ne modifiez rien", "sans rien changer", "sans rien modifier",
		"no cambies nada", "no modifiques nada", "sin cambiar nada", "ничего не меняй", "ничего не измен", "ничего менять", "не меняй ничего", "不要修改", "不要改", "别改", "不要更改", "変更しないで", "変更せずに", "수정하지 마",
	} {
		if strings.Contains(low, no) {
			return negation{noChange, no}
		}
	}
	return negation{}
}

// han reports whether a text is written without spaces.
func han(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r > 0x2E00 && (unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hiragana, r) || unicode.Is(unicode.Katakana, r) || unicode.Is(unicode.Hangul, r))
	}) >= 0
}

func unspaced(s string) (Match, bool) {
	for _, w := range [...]string{"修复", "修正", "修改", "添加", "删除", "重构", "实现", "改成", "改为", "更新", "创建", "写一个", "重命名", "追加", "直して", "変更", "削除", "実装", "추가", "수정", "고쳐", "삭제"} {
		if strings.Contains(s, w) {
			return Match{Route: Edit, Why: w}, true
		}
	}
	for _, w := range [...]string{"运行", "执行", "実行", "실행"} {
		if strings.Contains(s, w) {
			return Match{Route: Run, Why: w}, true
		}
	}
	for _, w := range [...]string{"为什么", "什么", "怎么", "如何", "哪里", "解释", "说明", "なぜ", "何", "どこ", "説明", "왜", "무엇", "어디", "설명", "吗", "？"} {
		if strings.Contains(s, w) {
			return Match{Route: Read, Why: w}, true
		}
	}
	return Match{}, false
}
