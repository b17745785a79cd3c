package trees

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
)

// This file reads and writes git's index of a tree, in version 2: which files were as
// they are when it was made.

// stamp is what tells that a file was not changed: what git compares.
type stamp struct {
	ctime, mtime [2]uint32 // seconds, nanoseconds
	ino, size    uint32
}

// indexed is one file of an index.
type indexed struct {
	file
	stamp
	dev, uid, gid uint32
}

const (
	indexHead  = 12
	indexFixed = 62 // of an entry, before its path
	indexLong  = 0xFFF
)

// octal are the modes of an index by those of a tree.
var octal = map[string]uint32{modeFile: 0o100644, modeExec: 0o100755, modeLink: 0o120000}

func writeIndex(path string, files []indexed) error {
	b := append(make([]byte, 0, 100*len(files)+64), "DIRC\x00\x00\x00\x02"...)
	num := func(ns ...uint32) {
		for _, n := range ns {
			b = binary.BigEndian.AppendUint32(b, n)
		}
	}
	num(uint32(len(files)))
	for _, f := range files {
		begin := len(b)
		num(f.ctime[0], f.ctime[1], f.mtime[0], f.mtime[1], f.dev, f.ino, octal[f.mode], f.uid, f.gid, f.size)
		b, _ = hex.AppendDecode(b, []byte(f.id))
		b = binary.BigEndian.AppendUint16(b, uint16(min(len(f.path), indexLong)))
		b = append(b, f.path...)
		b = append(b, make([]byte, 8-(len(b)-begin)%8)...)
	}
	sum := sha1.Sum(b)
	return os.WriteFile(path, append(b, sum[:]...), 0o600)
}

// readIndex reads an index that has nothing but files. Others are git's to read.
func readIndex(path string) (files []indexed, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(raw) < indexHead+sha1.Size || string(raw[:8]) != "DIRC\x00\x00\x00\x02" {
		return nil, errUnusual
	}
	n := int(binary.BigEndian.Uint32(raw[8:]))
	b := raw[indexHead : len(raw)-sha1.Size]
	if n > len(b)/indexFixed {
		return nil, errUnusual
	}
	files = make([]indexed, 0, n)
	text := string(b) // one copy, which all paths share
	at := 0
	for range n {
		if len(b)-at < indexFixed {
			return nil, errUnusual
		}
		num := func(i int) uint32 { return binary.BigEndian.Uint32(b[at+4*i:]) }
		f := indexed{
			file:  file{id: hex.EncodeToString(b[at+40 : at+60])},
			stamp: stamp{ctime: [2]uint32{num(0), num(1)}, mtime: [2]uint32{num(2), num(3)}, ino: num(5), size: num(9)},
		}
		for mode, o := range octal {
			if num(6) == o {
				f.mode = mode
			}
		}
		// What is above the length says that git does not compare the file.
		length, end := binary.BigEndian.Uint16(b[at+60:]), bytes.IndexByte(b[at+indexFixed:], 0)
		if f.mode == "" || length > indexLong || end < 0 || int(length) != min(end, indexLong) {
			return nil, errUnusual
		}
		f.path = text[at+indexFixed : at+indexFixed+end]
		files = append(files, f)
		if at += (indexFixed + end + 8) / 8 * 8; at > len(b) {
			return nil, errUnusual
		}
	}
	for at < len(b) { // extensions: those that must be understood have a small letter
		if len(b)-at < 8 || strings.ToUpper(text[at:at+1]) != text[at:at+1] {
			return nil, errUnusual
		}
		if at += 8 + int(binary.BigEndian.Uint32(b[at+4:])); at > len(b) {
			return nil, errUnusual
		}
	}
	return files, nil
}
