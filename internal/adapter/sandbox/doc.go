// Package sandbox runs a command so that the kernel refuses what its policy
// (policy/confine) does not allow (SPEC 16.12).
//
// On Linux a thread of pawl gives up its rights for good and starts the
// command; the rights are gone in it and in all that descends from it. Landlock
// is the boundary for files, a seccomp filter for the network, other processes
// and the machine. It needs no user namespace and no set-uid program, and works
// as root, without privileges, and in containers.
//
// Landlock's rules add up along a path, so they cannot leave out a name inside
// a folder that may be changed. So the workspace has no right to be changed at
// all: the filter hands each such call to pawl, which reads its arguments once,
// judges them, and makes the change itself on folders that it has opened.
// Nothing is judged on memory or names that can change afterwards, and where
// pawl lets a call go on, Landlock decides. Where a person's rule is about reading, pawl
// opens what is read in the same way, and nothing that reads goes on.
//
// On macOS sandbox-exec does it, by a profile of the same policy. pawl tries it
// before anything relies on it. It promises less there: see doc/safety.md.
//
// It promises, of a command that was started:
//   - no file is changed outside the policy's folders, and no protected name in
//     the workspace: content, name, attributes, or through another hard link;
//   - nothing outside the policy's folders is read, but that a name exists, its
//     attributes, and the command lines of processes;
//   - no connection but between processes of the same Box: over the loopback,
//     and by unix sockets in its temporary folder and the workspace. pawl makes
//     each bind, listen, connect and accept, so a server of the machine is not
//     reached, and a client of the machine not answered;
//   - no host but those that were granted, through a proxy of the Box's own
//     (package proxy), which serves what pawl connected and nobody else;
//   - no signal to, no look into and no change of a process outside; no kernel
//     keys, shared memory of System V, mounts, namespaces, input pushed to a
//     terminal;
//   - no privilege is won by a set-uid program, and root keeps of its
//     capabilities those to use its own files;
//   - after Wait nothing of it runs, and more than MaxProcesses end all of it;
//   - where Boxes.Short is set, a command that used up the machine's memory or disk
//     is ended (Linux).
//
// It refuses to run what it cannot confine. An error of the start and the list of
// Probe name the promise that does not hold, and why: a partial sandbox never
// looks whole.
//
// What it does not keep from a command: time, covert channels, what
// the descriptors given to it as standard input and output lead to, and what a
// person later does with the files that it wrote.
package sandbox
