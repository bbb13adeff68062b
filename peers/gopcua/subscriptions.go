package main

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// path returns the path of the Variable that holds n.
func path(n int) string { return fmt.Sprintf("Many/Group%d/Value%d", n/100, n) }

// Changes are the notifications of the library's own Subscription.
type Changes struct {
	notifications chan *opcua.PublishNotificationData
	subscription  *opcua.Subscription
}

// wait waits for a value.
func (c *Changes) wait(wanted func(any) bool) {
	end := time.After(patience)
	for {
		select {
		case notification := <-c.notifications:
			// After a restart the library reports errors before it goes on.
			data, ok := notification.Value.(*ua.DataChangeNotification)
			for i := 0; ok && i < len(data.MonitoredItems); i++ {
				if value := data.MonitoredItems[i].Value; value.Value != nil && wanted(value.Value.Value()) {
					return
				}
			}
		case <-end:
			expect(false, "a change does not come")
		}
	}
}

func (c *Changes) waitFor(value any) { c.wait(func(found any) bool { return found == value }) }

// The library's own Subscription gets each value that is written.
func subscription(task *Task) int {
	session := task.session()
	session.set("Watched/Level", 0.0)
	changes := own(session, "Watched/Level")
	changes.waitFor(0.0)
	for _, value := range []float64{1.5, 2.5, 3.5} {
		session.set("Watched/Level", value)
		changes.waitFor(value)
	}
	check(changes.subscription.Cancel(background))
	return 4
}

// Watch is a Subscription with items, whose messages are acknowledged.
type Watch struct {
	session      *Session
	id           uint32
	items        []uint32
	seen         []Change
	acknowledged []*ua.SubscriptionAcknowledgement
}

func watch(session *Session, items ...Item) *Watch {
	id := session.subscribe()
	return &Watch{session: session, id: id, items: session.monitor(id, items...)}
}

// collect waits for one message.
func (w *Watch) collect() {
	response := w.session.publish(w.acknowledged...)
	for _, result := range response.Results {
		expect(result == ua.StatusOK, "acknowledgement: %v", result)
	}
	found := changes(response.NotificationMessage)
	w.acknowledged = nil
	// A keep-alive message has no number of its own.
	if len(found) > 0 {
		number := response.NotificationMessage.SequenceNumber
		w.acknowledged = []*ua.SubscriptionAcknowledgement{{SubscriptionID: w.id, SequenceNumber: number}}
	}
	w.seen = append(w.seen, found...)
}

func (w *Watch) has(change Change) bool {
	for _, seen := range w.seen {
		if seen == change {
			return true
		}
	}
	return false
}

// waitFor waits for a change.
func (w *Watch) waitFor(handle uint32, value any) {
	end := time.Now().Add(patience)
	for !w.has(Change{handle, value}) {
		expect(time.Now().Before(end), "%d: %v is not among %v", handle, value, w.seen)
		w.collect()
	}
}

// values returns the values of an item.
func (w *Watch) values(handle uint32) (found []any) {
	for _, seen := range w.seen {
		if seen.handle == handle {
			found = append(found, seen.value)
		}
	}
	return
}

// An AbsoluteDeadband and a PercentDeadband suppress small changes.
func deadband(task *Task) int {
	session, done := task.session(), 0
	for _, kind := range []struct {
		deadband ua.DeadbandType
		reported []any
	}{
		{ua.DeadbandTypeAbsolute, []any{0.0, 11.0, 22.0}},
		{ua.DeadbandTypePercent, []any{0.0, 22.0}},
	} {
		level := "Watched/Level"
		session.set(level, 0.0)
		filter := &ua.DataChangeFilter{
			Trigger:       ua.DataChangeTriggerStatusValue,
			DeadbandType:  uint32(kind.deadband),
			DeadbandValue: 10,
		}
		watch := watch(session,
			Item{1, level, ua.MonitoringModeReporting, filter}, Item{2, level, ua.MonitoringModeReporting, nil})
		watch.waitFor(1, 0.0)
		for _, value := range []float64{5, 9, 11, 15, 22} {
			session.set(level, value)
			watch.waitFor(2, value)
			done++
		}
		watch.waitFor(1, 22.0)
		expect(reflect.DeepEqual(watch.values(1), kind.reported), "%v: %v", kind.deadband, watch.values(1))
		session.unsubscribe(watch.id)
	}
	return done
}

// An item in the mode Sampling is reported when the item changes that triggers it.
func triggering(task *Task) int {
	session := task.session()
	trigger, linked := "Watched/Trigger", "Watched/Linked"
	session.set(trigger, uint32(0))
	session.set(linked, uint32(0))
	watch := watch(session,
		Item{1, trigger, ua.MonitoringModeReporting, nil},
		Item{2, linked, ua.MonitoringModeSampling, nil},
		Item{3, linked, ua.MonitoringModeReporting, nil})
	results := send[*ua.SetTriggeringResponse](session, &ua.SetTriggeringRequest{
		SubscriptionID:   watch.id,
		TriggeringItemID: watch.items[0],
		LinksToAdd:       []uint32{watch.items[1], 4_000_000},
	}).AddResults
	expected := []ua.StatusCode{ua.StatusOK, ua.StatusBadMonitoredItemIDInvalid}
	expect(reflect.DeepEqual(results, expected), "%v", results)
	watch.waitFor(1, uint32(0))
	session.set(linked, uint32(7))
	watch.waitFor(3, uint32(7))
	expect(!watch.has(Change{2, uint32(7)}), "reported before the trigger")
	// The sample of the linked item may be later than that of the trigger.
	end := time.Now().Add(patience)
	for number := uint32(1); !watch.has(Change{2, uint32(7)}); number++ {
		expect(time.Now().Before(end), "the linked item is not reported: %v", watch.seen)
		session.set(trigger, number)
		watch.waitFor(1, number)
	}
	session.unsubscribe(watch.id)
	return 3
}

// A message is sent again until it is acknowledged.
func republish(task *Task) int {
	err := republishAcknowledged(task)
	// After a ServiceFault the library closes its connection, and may report this instead of the fault.
	for attempt := 1; err == io.EOF && attempt < 10; attempt++ {
		err = republishAcknowledged(task)
	}
	expect(err == ua.StatusBadMessageNotAvailable, "an acknowledged message: %v", err)
	return 4
}

// republishAcknowledged requests a message before and after its acknowledgement, and returns the error of the second
// request. Nothing can follow in its session.
func republishAcknowledged(task *Task) error {
	session := task.session()
	id := session.subscribe()
	session.monitor(id, Item{1, "Watched/Level", ua.MonitoringModeReporting, nil})
	first := session.publish()
	number := first.NotificationMessage.SequenceNumber
	expect(len(changes(first.NotificationMessage)) > 0, "the first message has no change")
	expect(reflect.DeepEqual(first.AvailableSequenceNumbers, []uint32{number}), "%v", first.AvailableSequenceNumbers)
	request := &ua.RepublishRequest{SubscriptionID: id, RetransmitSequenceNumber: number}
	again := send[*ua.RepublishResponse](session, request).NotificationMessage
	expect(again.SequenceNumber == number, "%d", again.SequenceNumber)
	expect(reflect.DeepEqual(changes(again), changes(first.NotificationMessage)), "%v", changes(again))
	second := session.publish(
		&ua.SubscriptionAcknowledgement{SubscriptionID: id, SequenceNumber: number},
		&ua.SubscriptionAcknowledgement{SubscriptionID: id, SequenceNumber: 4_000_000})
	expected := []ua.StatusCode{ua.StatusOK, ua.StatusBadSequenceNumberUnknown}
	expect(reflect.DeepEqual(second.Results, expected), "%v", second.Results)
	return session.client.Send(background, request, func(ua.Response) error { return nil })
}

// Another Session takes over a Subscription, with its first values.
func transfer(task *Task) int {
	first, second := task.session(), task.session()
	id := first.subscribe()
	first.monitor(id, Item{1, "Watched/Level", ua.MonitoringModeReporting, nil})
	expect(len(changes(first.publish().NotificationMessage)) > 0, "the first message has no change")
	results := send[*ua.TransferSubscriptionsResponse](second, &ua.TransferSubscriptionsRequest{
		SubscriptionIDs:   []uint32{id, 4_000_000},
		SendInitialValues: true,
	}).Results
	expect(results[0].StatusCode == ua.StatusOK, "%v", results[0].StatusCode)
	expect(results[1].StatusCode == ua.StatusBadSubscriptionIDInvalid, "%v", results[1].StatusCode)
	response := second.publish()
	expect(response.SubscriptionID == id, "%d", response.SubscriptionID)
	expect(len(changes(response.NotificationMessage)) > 0, "no first value after the transfer")
	told, ok := first.publish().NotificationMessage.NotificationData[0].Value.(*ua.StatusChangeNotification)
	expect(ok && told.Status == ua.StatusGoodSubscriptionTransferred, "%v", told)
	second.unsubscribe(id)
	return 4
}
