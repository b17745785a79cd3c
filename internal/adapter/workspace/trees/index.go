package trees

import (
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"os"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
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

// indexLong is the length field of an entry whose path is as long or longer.
const indexLong = 0xFFF

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
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	usual := true
	_, err = gitindex.Read(f, about.Size(), "", sha1.Size, func(e *gitindex.Entry) {
		at := func(t int64) [2]uint32 { return [2]uint32{uint32(t / 1e9), uint32(t % 1e9)} }
		known := indexed{
			file:  file{path: string(e.Path), id: hex.EncodeToString(e.ID[:sha1.Size])},
			stamp: stamp{ctime: at(e.Ctime), mtime: at(e.Mtime), ino: e.Ino, size: e.Size},
		}
		for mode, o := range octal {
			if e.Mode == o {
				known.mode = mode
			}
		}
		usual = usual && known.mode != "" && (e.Plain || known.mode == modeLink)
		files = append(files, known)
	})
	if err == nil && !usual {
		err = errUnusual
	}
	return files, err
}
