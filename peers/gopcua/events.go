package main

import (
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// Nodes of the standard.
var (
	refresh       = ua.NewNumericNodeID(0, 3875)
	conditionType = ua.NewNumericNodeID(0, 2782)
	baseEventType = ua.NewNumericNodeID(0, 2041)
)

// eventFilter selects fields of every Event.
func eventFilter(fields ...string) *ua.ExtensionObject {
	filter := &ua.EventFilter{WhereClause: &ua.ContentFilter{}}
	for _, field := range fields {
		filter.SelectClauses = append(filter.SelectClauses, &ua.SimpleAttributeOperand{
			TypeDefinitionID: baseEventType,
			BrowsePath:       []*ua.QualifiedName{{Name: field}},
			AttributeID:      ua.AttributeIDValue,
		})
	}
	return ua.NewExtensionObject(filter)
}

// event monitors Events, and refreshes: the alarm with the ConditionName `Start`, which is active, comes, and both marks.
func event(task *Task) int {
	session := task.session()
	notifications := make(chan *opcua.PublishNotificationData, 100)
	subscription, err := session.client.Subscribe(background, &opcua.SubscriptionParameters{Interval: 50 * time.Millisecond}, notifications)
	check(err)
	created, err := subscription.Monitor(background, ua.TimestampsToReturnBoth, &ua.MonitoredItemCreateRequest{
		ItemToMonitor:  &ua.ReadValueID{NodeID: server, AttributeID: ua.AttributeIDEventNotifier, DataEncoding: &ua.QualifiedName{}},
		MonitoringMode: ua.MonitoringModeReporting,
		RequestedParameters: &ua.MonitoringParameters{
			ClientHandle: 1, DiscardOldest: true, QueueSize: 100, Filter: eventFilter("EventType", "ConditionName", "Severity", "Retain"),
		},
	})
	check(err)
	expect(created.Results[0].StatusCode == ua.StatusOK, "the item: %v", created.Results[0].StatusCode)
	called, err := session.client.Call(background, &ua.CallMethodRequest{
		ObjectID: conditionType, MethodID: refresh,
		InputArguments: []*ua.Variant{ua.MustVariant(subscription.SubscriptionID)},
	})
	check(err)
	expect(called.StatusCode == ua.StatusOK, "ConditionRefresh: %v", called.StatusCode)
	// The registry knows an alarm when it has subscribed to its Provider, which may be after the refresh.
	begun, shown, ended, end := false, false, false, time.After(patience)
	for !(begun && shown && ended) {
		select {
		case notification := <-notifications:
			check(notification.Error)
			list, ok := notification.Value.(*ua.EventNotificationList)
			for i := 0; ok && i < len(list.Events); i++ {
				fields := list.Events[i].EventFields
				kind := fields[0].NodeID().IntID()
				switch {
				case kind == 2787:
					begun = true
				case kind == 2788:
					expect(begun, "a refresh ends that has not begun")
					ended = true
				case fields[1].Value() == task.Start:
					expect(fields[2].Value().(uint16) >= 500 && fields[3].Value() == true, "the alarm: %v", fields)
					shown = true
				}
			}
		case <-end:
			expect(false, "begun %v, shown %v, ended %v", begun, shown, ended)
		}
	}
	check(subscription.Cancel(background))
	return 3
}

// history reads the raw values of the Variable `Start`: the last three are 100, 200 and 300.
func history(task *Task) int {
	session := task.session()
	read, err := session.client.HistoryReadRawModified(background,
		[]*ua.HistoryReadValueID{{NodeID: task.start(), DataEncoding: &ua.QualifiedName{}}},
		&ua.ReadRawModifiedDetails{StartTime: time.Now().Add(-time.Hour), EndTime: time.Now().Add(time.Minute)})
	check(err)
	result := read.Results[0]
	expect(result.StatusCode == ua.StatusOK, "HistoryRead: %v", result.StatusCode)
	data, ok := result.HistoryData.Value.(*ua.HistoryData)
	expect(ok && len(data.DataValues) >= 3, "%v", result.HistoryData.Value)
	last := data.DataValues[len(data.DataValues)-3:]
	for index, wanted := range []float64{100, 200, 300} {
		expect(last[index].Value.Value() == wanted, "%v instead of %v", last[index].Value.Value(), wanted)
	}
	return len(data.DataValues)
}
