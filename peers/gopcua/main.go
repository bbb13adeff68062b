// The checks of peers/README.md, by gopcua: one JSON line for each line of the input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/gopcua/opcua/ua"
)

// Task is one check that is to be run.
type Task struct {
	Check     string
	Endpoint  string
	Namespace string
	Start     string
	Security
	sessions []*Session
	input    *bufio.Reader
}

// Failed is the panic of a check that has failed.
type Failed string

func expect(condition bool, format string, arguments ...any) {
	if !condition {
		panic(Failed(fmt.Sprintf(format, arguments...)))
	}
}

func check(err error) {
	if err != nil {
		panic(Failed(err.Error()))
	}
}

// session returns a new Session.
func (t *Task) session() *Session {
	session, err := connect(t.Endpoint, t.Namespace, t.Security)
	check(err)
	t.sessions = append(t.sessions, session)
	return session
}

// want asks the driver to do something, and waits until it is done.
func (t *Task) want(what string) {
	say(map[string]any{"want": what})
	_, err := t.input.ReadString('\n')
	check(err)
}

// start returns the node at which a walk starts.
func (t *Task) start() *ua.NodeID {
	node, err := ua.ParseNodeID(t.Start)
	check(err)
	return node
}

func say(line map[string]any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

// run runs one check, whatever becomes of it.
func run(task *Task) (line map[string]any) {
	code, found := checks[task.Check]
	if !found {
		return map[string]any{"check": task.Check, "missing": true}
	}
	defer func() {
		for _, session := range task.sessions {
			_ = session.client.Close(background)
		}
		if failure := recover(); failure != nil {
			text := fmt.Sprint(failure)
			if _, known := failure.(Failed); !known {
				text += string(debug.Stack())
			}
			line = map[string]any{"check": task.Check, "ok": false, "error": text}
		}
	}()
	return map[string]any{"check": task.Check, "ok": true, "counted": code(task)}
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		text, err := input.ReadString('\n')
		if err != nil {
			return
		}
		task := &Task{input: input}
		if err := json.Unmarshal([]byte(text), task); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		say(run(task))
	}
}
