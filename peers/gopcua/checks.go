package main

import (
	"fmt"
	"reflect"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

var checks = map[string]func(*Task) int{
	"browse_continuation": browseContinuation,
	"all_attributes":      allAttributes,
	"index_range":         indexRange,
	"write_plain":         writePlain,
	"write_timestamps":    writeTimestamps,
	"call":                callMethods,
	"renewal":             renewal,
	"restart":             restart,
	"ten_thousand_nodes":  tenThousandNodes,
	"million_elements":    millionElements,
	"machine":             machine,
	"subscription":        subscription,
	"deadband":            deadband,
	"triggering":          triggering,
	"republish":           republish,
	"transfer":            transfer,
	"event":               event,
	"history":             history,
}

var server = ua.NewNumericNodeID(0, 2253)

// Browse and BrowseNext with 1 to 3 references give all references in their order.
func browseContinuation(task *Task) int {
	session, continued := task.session(), 0
	names := func(references []*ua.ReferenceDescription) (found []string) {
		for _, reference := range references {
			found = append(found, reference.NodeID.String())
		}
		return
	}
	whole := names(session.browse(server, 0, ua.BrowseDirectionForward).References)
	for most := uint32(1); most <= 3; most++ {
		var found []string
		result := session.browse(server, most, ua.BrowseDirectionForward)
		for {
			expect(len(result.References) <= int(most), "%d references instead of %d", len(result.References), most)
			found = append(found, names(result.References)...)
			if len(result.ContinuationPoint) == 0 {
				break
			}
			result = session.browseNext(result.ContinuationPoint, false)[0]
			expect(result.StatusCode == ua.StatusOK, "BrowseNext: %v", result.StatusCode)
			continued++
		}
		expect(reflect.DeepEqual(found, whole), "%v instead of %v", found, whole)
		point := session.browse(server, most, ua.BrowseDirectionForward).ContinuationPoint
		session.browseNext(point, true)
		gone := session.browseNext(point, false)[0].StatusCode
		expect(gone == ua.StatusBadContinuationPointInvalid, "a released continuation point: %v", gone)
	}
	return continued
}

// walk returns all nodes below one, without those below `Many` and `Large`.
func walk(session *Session, start *ua.NodeID) []*ua.NodeID {
	found, waiting := []*ua.NodeID{start}, []*ua.NodeID{start}
	known := map[string]bool{start.String(): true}
	for len(waiting) > 0 {
		last := len(waiting) - 1
		result := session.browse(waiting[last], 100, ua.BrowseDirectionForward)
		waiting = waiting[:last]
		for {
			expect(result.StatusCode == ua.StatusOK, "Browse: %v", result.StatusCode)
			for _, reference := range result.References {
				node := reference.NodeID.NodeID
				if known[node.String()] {
					continue
				}
				known[node.String()] = true
				found = append(found, node)
				if name := reference.BrowseName.Name; name != "Many" && name != "Large" {
					waiting = append(waiting, node)
				}
			}
			if len(result.ContinuationPoint) == 0 {
				break
			}
			result = session.browseNext(result.ContinuationPoint, false)[0]
		}
	}
	return found
}

// Values of namespace 0 that are not for every user (arrays of all clients) or channel (their security), and one that does not exist.
var withheld = map[string]ua.StatusCode{
	"i=2290":  ua.StatusBadUserAccessDenied,
	"i=3707":  ua.StatusBadUserAccessDenied,
	"i=3708":  ua.StatusBadSecurityModeInsufficient,
	"i=12643": ua.StatusBadNotSupported,
}

// Each attribute of each node is Good or does not exist; instance declarations may have no value.
func allAttributes(task *Task) int {
	session := task.session()
	nodes := walk(session, task.start())
	var items []*ua.ReadValueID
	for _, node := range nodes {
		for attribute := ua.AttributeID(1); attribute <= 27; attribute++ {
			items = append(items, &ua.ReadValueID{NodeID: node, AttributeID: attribute})
		}
	}
	gone := 0
	for start := 0; start < len(items); start += 10_000 {
		batch := items[start:min(start+10_000, len(items))]
		for index, result := range session.read(batch) {
			node, attribute, status := batch[index].NodeID, batch[index].AttributeID, result.Status
			// A node of the diagnostics: its Session has ended meanwhile.
			if status == ua.StatusBadNodeIDUnknown && node.Namespace() == 1 {
				gone++
				continue
			}
			missing := status == ua.StatusBadAttributeIDInvalid && attribute > ua.AttributeIDDisplayName
			empty := status == ua.StatusBadWaitingForInitialData && attribute == ua.AttributeIDValue
			reason, known := withheld[node.String()]
			refused := known && status == reason && attribute > ua.AttributeIDDisplayName
			// The security of a Session in the diagnostics: its channel has to be encrypted.
			ofSession := status == ua.StatusBadSecurityModeInsufficient && node.Namespace() == 1
			refused = refused || ofSession && attribute > ua.AttributeIDDisplayName
			expect(status == ua.StatusOK || missing || empty || refused, "%v, %v: %v", node, attribute, status)
			if attribute == ua.AttributeIDNodeID {
				own := result.Value.NodeID()
				expect(own.String() == node.String(), "%v has the NodeId %v", node, own)
			}
		}
	}
	// Two Sessions have fewer attributes.
	expect(gone < 4_000, "%d attributes of nodes that are gone", gone)
	return len(nodes)
}

// Parts of arrays, matrices and Strings are read and written.
func indexRange(task *Task) int {
	session, done := task.session(), 0
	for _, part := range []struct {
		path, indexRange string
		expected         any
	}{
		{"Values/Array", "5", []uint32{5}},
		{"Values/Array", "1:3", []uint32{1, 2, 3}},
		{"Values/Array", "14:20", []uint32{14, 15}},
		{"Values/Matrix", "0:1,1:2", [][]float64{{2, 3}, {5, 6}}},
		{"Values/String", "0:3", "Takt"},
	} {
		value := session.part(part.path, part.indexRange)
		expect(value.Status == ua.StatusOK, "%s[%s]: %v", part.path, part.indexRange, value.Status)
		found := value.Value.Value()
		expect(reflect.DeepEqual(found, part.expected), "%s[%s]: %v", part.path, part.indexRange, found)
		done++
	}
	for part, expected := range map[string]ua.StatusCode{
		"16":  ua.StatusBadIndexRangeNoData,
		"3:1": ua.StatusBadIndexRangeInvalid,
		"x":   ua.StatusBadIndexRangeInvalid,
	} {
		status := session.part("Values/Array", part).Status
		expect(status == expected, "Values/Array[%s]: %v", part, status)
		done++
	}
	for _, values := range [][]uint32{{71, 72}, {7, 8}} {
		status := session.write("Values/Array", plain(values), "7:8")
		expect(status == ua.StatusOK, "Write of Values/Array[7:8]: %v", status)
		array := []uint32{0, 1, 2, 3, 4, 5, 6, values[0], values[1], 9, 10, 11, 12, 13, 14, 15}
		found := session.value("Values/Array")
		expect(reflect.DeepEqual(found, array), "%v", found)
		done++
	}
	return done
}

// Values without timestamps are written, and those that do not fit are refused.
func writePlain(task *Task) int {
	session, done := task.session(), 0
	for _, write := range []struct {
		path     string
		value    any
		expected ua.StatusCode
	}{
		{"Values/Double", 7.25, ua.StatusOK},
		{"Values/Double", uint32(7), ua.StatusBadTypeMismatch},
		{"Values/ReadOnly", int64(7), ua.StatusBadNotWritable},
		{"Values/Nothing", uint32(7), ua.StatusBadNodeIDUnknown},
		{"Values/String", "Grüße", ua.StatusOK},
		{"Values/String", "Takt: equal time", ua.StatusOK},
		{"Values/Double", 2.5, ua.StatusOK},
	} {
		status := session.write(write.path, plain(write.value), "")
		expect(status == write.expected, "Write of %s: %v instead of %v", write.path, status, write.expected)
		if status == ua.StatusOK {
			found := session.value(write.path)
			expect(found == write.value, "%s: %v", write.path, found)
		}
		done++
	}
	return done
}

// Values with a timestamp and a StatusCode are stored with both.
func writeTimestamps(task *Task) int {
	session := task.session()
	time := time.Date(2024, 2, 29, 12, 34, 56, 789_000_000, time.UTC)
	value := plain(3.5)
	value.EncodingMask |= ua.DataValueStatusCode | ua.DataValueSourceTimestamp
	value.Status, value.SourceTimestamp = ua.StatusUncertainSubNormal, time
	status := session.write("Values/Double", value, "")
	expect(status == ua.StatusOK, "Write: %v", status)
	read := session.part("Values/Double", "")
	expect(read.Value.Value() == 3.5, "%v", read.Value.Value())
	expect(read.Status == ua.StatusUncertainSubNormal, "%v", read.Status)
	expect(read.SourceTimestamp.Equal(time), "%v", read.SourceTimestamp)
	expect(read.Has(ua.DataValueServerTimestamp), "no ServerTimestamp")
	session.set("Values/Double", 2.5)
	return 4
}

// A Method is called; wrong calls are refused.
func callMethods(task *Task) int {
	session := task.session()
	product := session.call("Multiply", 6.0, 7.0)
	expect(product.StatusCode == ua.StatusOK, "Multiply: %v", product.StatusCode)
	expect(len(product.OutputArguments) == 1 && product.OutputArguments[0].Value() == 42.0, "%v", product.OutputArguments)
	done := 1
	for _, wrong := range []struct {
		method    string
		arguments []any
		expected  ua.StatusCode
	}{
		{"Multiply", []any{6.0}, ua.StatusBadArgumentsMissing},
		{"Multiply", []any{6.0, 7.0, 8.0}, ua.StatusBadTooManyArguments},
		{"Multiply", []any{"six", 7.0}, ua.StatusBadInvalidArgument},
		{"Refuse", nil, ua.StatusBadInvalidState},
	} {
		result := session.call(wrong.method, wrong.arguments...)
		expect(result.StatusCode == wrong.expected, "%s: %v instead of %v", wrong.method, result.StatusCode, wrong.expected)
		if wrong.expected == ua.StatusBadInvalidArgument {
			statuses := []ua.StatusCode{ua.StatusBadTypeMismatch, ua.StatusOK}
			expect(reflect.DeepEqual(result.InputArgumentResults, statuses), "%v", result.InputArgumentResults)
		}
		done++
	}
	return done
}

// The channel is renewed while values are read.
func renewal(task *Task) int {
	session, done := task.session(), 0
	for range 10 {
		check(session.client.SecureChannel().Renew(background))
		for range 10 {
			expect(session.value("Values/Double") == 2.5, "Values/Double")
			done++
		}
	}
	return done
}

// A server that is killed and started again is used again: the library connects by itself.
func restart(task *Task) int {
	session := task.session()
	changes := own(session, "Values/Double")
	changes.waitFor(2.5)
	task.want("restart")
	end := time.Now().Add(patience)
	for {
		status, err := session.tryWrite("Values/Double", 4.5)
		if err == nil && status == ua.StatusOK {
			break
		}
		expect(time.Now().Before(end), "not there again: %v %v", err, status)
		time.Sleep(50 * time.Millisecond)
	}
	changes.waitFor(4.5)
	session.set("Values/Double", 2.5)
	changes.waitFor(2.5)
	return 3
}

// tryWrite writes a value to a server that may be gone.
func (s *Session) tryWrite(path string, value any) (ua.StatusCode, error) {
	response, err := s.client.Write(background, &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{
		NodeID: s.node(path), AttributeID: ua.AttributeIDValue, Value: plain(value),
	}}})
	if err != nil {
		return ua.StatusOK, err
	}
	return response.Results[0], nil
}

// One Read has 10 000 nodes.
func tenThousandNodes(task *Task) int {
	const count = 10_000
	session := task.session()
	var items []*ua.ReadValueID
	for n := range count {
		items = append(items, &ua.ReadValueID{NodeID: session.node(path(n)), AttributeID: ua.AttributeIDValue})
	}
	for n, result := range session.read(items) {
		expect(result.Status == ua.StatusOK, "%s: %v", path(n), result.Status)
		expect(result.Value.Value() == uint32(n), "%s: %v", path(n), result.Value.Value())
	}
	return count
}

// An array of a million elements is read and written.
func millionElements(task *Task) int {
	const count = 1_000_000
	session := task.session()
	up, down := make([]uint32, count), make([]uint32, count)
	for n := range uint32(count) {
		up[n], down[n] = n, count-n
	}
	expect(reflect.DeepEqual(session.inParts("Large/Million", count), up), "wrong elements")
	for _, values := range [][]uint32{down, up} {
		session.set("Large/Million", values)
		expect(reflect.DeepEqual(session.inParts("Large/Million", count), values), "wrong elements after the Write")
	}
	return count
}

// inParts reads an array in parts, because the library decodes at most 65 535 elements.
func (s *Session) inParts(path string, count int) (whole []uint32) {
	const length = 50_000
	for start := 0; start < count; start += length {
		value := s.part(path, fmt.Sprintf("%d:%d", start, start+length-1))
		expect(value.Status == ua.StatusOK, "%s: %v", path, value.Status)
		whole = append(whole, value.Value.Value().([]uint32)...)
	}
	return
}

// The demonstration's Machine is started, watched and stopped.
func machine(task *Task) int {
	session := task.session()
	session.set("Spindle/SpeedSetpoint", 3000.0)
	changes := own(session, "Spindle/Speed")
	started := session.call("Start").StatusCode
	expect(started == ua.StatusOK, "Start: %v", started)
	changes.wait(func(value any) bool { speed, ok := value.(float64); return ok && speed >= 1000 })
	again := session.call("Start").StatusCode
	expect(again == ua.StatusBadInvalidState, "Start again: %v", again)
	outOfRange := session.write("Spindle/SpeedSetpoint", plain(1e9), "")
	expect(outOfRange == ua.StatusBadOutOfRange, "1e9: %v", outOfRange)
	stopped := session.call("Stop").StatusCode
	expect(stopped == ua.StatusOK, "Stop: %v", stopped)
	return 5
}

// own returns the changes of a Variable by the library's own Subscription.
func own(session *Session, path string) *Changes {
	notifications := make(chan *opcua.PublishNotificationData, 100)
	parameters := &opcua.SubscriptionParameters{Interval: 50 * time.Millisecond}
	watched, err := session.client.Subscribe(background, parameters, notifications)
	check(err)
	item := opcua.NewMonitoredItemCreateRequestWithDefaults(session.node(path), ua.AttributeIDValue, 1)
	response, err := watched.Monitor(background, ua.TimestampsToReturnBoth, item)
	check(err)
	expect(response.Results[0].StatusCode == ua.StatusOK, "Monitor: %v", response.Results[0].StatusCode)
	return &Changes{notifications, watched}
}
