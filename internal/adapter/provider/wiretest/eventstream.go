package wiretest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"strings"
)

// Message returns one message of Amazon's event stream. Headers are pairs of a name and a
// text.
func Message(payload []byte, headers ...string) []byte {
	var head []byte
	for i := 0; i+1 < len(headers); i += 2 {
		head = append(append(head, byte(len(headers[i]))), headers[i]...)
		head = append(head, 7)
		head = binary.BigEndian.AppendUint16(head, uint16(len(headers[i+1])))
		head = append(head, headers[i+1]...)
	}
	b := binary.BigEndian.AppendUint32(nil, uint32(12+len(head)+len(payload)+4))
	b = binary.BigEndian.AppendUint32(b, uint32(len(head)))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, head...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// Chunk returns a model's event as Bedrock sends it.
func Chunk(event string) []byte {
	payload, err := json.Marshal(map[string]string{"bytes": base64.StdEncoding.EncodeToString([]byte(event)), "p": "abcdefg"})
	if err != nil {
		panic(err) // a map of strings
	}
	return Message(payload, ":event-type", "chunk", ":content-type", "application/json", ":message-type", "event")
}

// OnBedrock returns a recorded stream of Anthropic's as Bedrock sends it; ok is false if
// the body is not a stream of such events.
func OnBedrock(body string) (stream string, ok bool) {
	var b strings.Builder
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, "\r\n")
		switch data, isData := strings.CutPrefix(line, "data: "); {
		case isData && json.Valid([]byte(data)):
			b.Write(Chunk(data))
			ok = true
		case isData || line != "" && !strings.HasPrefix(line, "event:") && !strings.HasPrefix(line, ":"):
			return "", false
		}
	}
	return b.String(), ok
}
