package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// Time until a request has failed, long enough for a loaded machine.
const patience = 60 * time.Second

var background = context.Background()

// The parts of a value that is written alone.
const valueAlone = ua.DataValueValue

// Session is one connection with an activated Session.
type Session struct {
	client *opcua.Client
	index  uint16
}

func connect(endpoint, namespace string, security Security) (*Session, error) {
	options, err := security.options(endpoint)
	if err != nil {
		return nil, err
	}
	options = append(options,
		opcua.RequestTimeout(patience),
		opcua.ReconnectInterval(100*time.Millisecond))
	client, err := opcua.NewClient(endpoint, options...)
	if err != nil {
		return nil, err
	}
	if err := client.Connect(background); err != nil {
		return nil, err
	}
	index, err := client.FindNamespace(background, namespace)
	if err != nil {
		_ = client.Close(background)
		return nil, err
	}
	return &Session{client, index}, nil
}

// send sends a request and returns its response.
func send[R ua.Response](session *Session, request ua.Request) R {
	var response R
	err := session.client.Send(background, request, func(answer ua.Response) error {
		of, ok := answer.(R)
		if !ok {
			return fmt.Errorf("the response is a %T", answer)
		}
		response = of
		return nil
	})
	check(err)
	return response
}

// node returns the NodeId of a node of the Provider.
func (s *Session) node(path string) *ua.NodeID { return ua.NewStringNodeID(s.index, path) }

// browse browses hierarchical references.
func (s *Session) browse(node *ua.NodeID, most uint32, direction ua.BrowseDirection) *ua.BrowseResult {
	response := send[*ua.BrowseResponse](s, &ua.BrowseRequest{
		View:                          &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)},
		RequestedMaxReferencesPerNode: most,
		NodesToBrowse: []*ua.BrowseDescription{{
			NodeID:          node,
			BrowseDirection: direction,
			ReferenceTypeID: ua.NewNumericNodeID(0, 33),
			IncludeSubtypes: true,
			ResultMask:      uint32(ua.BrowseResultMaskAll),
		}},
	})
	return response.Results[0]
}

// browseNext continues, or releases the continuation point.
func (s *Session) browseNext(point []byte, release bool) []*ua.BrowseResult {
	return send[*ua.BrowseNextResponse](s, &ua.BrowseNextRequest{
		ReleaseContinuationPoints: release,
		ContinuationPoints:        [][]byte{point},
	}).Results
}

// read reads with both timestamps.
func (s *Session) read(items []*ua.ReadValueID) []*ua.DataValue {
	// Not by Client.Read, which replaces the StatusCode of structures that the library does not know.
	for _, item := range items {
		item.DataEncoding = &ua.QualifiedName{}
	}
	response := send[*ua.ReadResponse](s, &ua.ReadRequest{
		TimestampsToReturn: ua.TimestampsToReturnBoth,
		NodesToRead:        items,
	})
	expect(len(response.Results) == len(items), "%d results", len(response.Results))
	return response.Results
}

// part reads a part of one Value of the Provider.
func (s *Session) part(path, indexRange string) *ua.DataValue {
	item := &ua.ReadValueID{NodeID: s.node(path), AttributeID: ua.AttributeIDValue, IndexRange: indexRange}
	return s.read([]*ua.ReadValueID{item})[0]
}

// value reads one Value of the Provider.
func (s *Session) value(path string) any {
	value := s.part(path, "")
	expect(value.Status == ua.StatusOK, "%s: %v", path, value.Status)
	return value.Value.Value()
}

// write writes one Value of the Provider.
func (s *Session) write(path string, value *ua.DataValue, indexRange string) ua.StatusCode {
	response, err := s.client.Write(background, &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{
		NodeID:      s.node(path),
		AttributeID: ua.AttributeIDValue,
		IndexRange:  indexRange,
		Value:       value,
	}}})
	check(err)
	return response.Results[0]
}

// set writes a plain value, which must succeed.
func (s *Session) set(path string, value any) {
	status := s.write(path, plain(value), "")
	expect(status == ua.StatusOK, "Write of %s: %v", path, status)
}

// call calls a Method of the Provider.
func (s *Session) call(method string, arguments ...any) *ua.CallMethodResult {
	parents := s.browse(s.node(method), 0, ua.BrowseDirectionInverse).References
	request := &ua.CallMethodRequest{ObjectID: parents[0].NodeID.NodeID, MethodID: s.node(method)}
	for _, argument := range arguments {
		request.InputArguments = append(request.InputArguments, ua.MustVariant(argument))
	}
	result, err := s.client.Call(background, request)
	check(err)
	return result
}

// subscribe creates a Subscription whose messages are fetched by publish.
func (s *Session) subscribe() uint32 {
	return send[*ua.CreateSubscriptionResponse](s, &ua.CreateSubscriptionRequest{
		RequestedPublishingInterval: 50,
		RequestedLifetimeCount:      10_000,
		RequestedMaxKeepAliveCount:  20,
		PublishingEnabled:           true,
	}).SubscriptionID
}

// Item is a MonitoredItem to be created.
type Item struct {
	handle uint32
	path   string
	mode   ua.MonitoringMode
	filter *ua.DataChangeFilter
}

// monitor creates MonitoredItems.
func (s *Session) monitor(subscription uint32, items ...Item) []uint32 {
	request := &ua.CreateMonitoredItemsRequest{
		SubscriptionID:     subscription,
		TimestampsToReturn: ua.TimestampsToReturnBoth,
	}
	for _, item := range items {
		create := opcua.NewMonitoredItemCreateRequestWithDefaults(s.node(item.path), ua.AttributeIDValue, item.handle)
		create.MonitoringMode = item.mode
		create.RequestedParameters.QueueSize = 100
		if item.filter != nil {
			create.RequestedParameters.Filter = ua.NewExtensionObject(item.filter)
		}
		request.ItemsToCreate = append(request.ItemsToCreate, create)
	}
	var ids []uint32
	for _, result := range send[*ua.CreateMonitoredItemsResponse](s, request).Results {
		expect(result.StatusCode == ua.StatusOK, "CreateMonitoredItems: %v", result.StatusCode)
		ids = append(ids, result.MonitoredItemID)
	}
	return ids
}

// publish sends a Publish request and waits for its response.
func (s *Session) publish(acknowledged ...*ua.SubscriptionAcknowledgement) *ua.PublishResponse {
	return send[*ua.PublishResponse](s, &ua.PublishRequest{SubscriptionAcknowledgements: acknowledged})
}

// unsubscribe deletes a Subscription.
func (s *Session) unsubscribe(subscription uint32) {
	request := &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{subscription}}
	status := send[*ua.DeleteSubscriptionsResponse](s, request).Results[0]
	expect(status == ua.StatusOK, "DeleteSubscriptions: %v", status)
}

// plain returns a DataValue with a value alone.
func plain(value any) *ua.DataValue {
	return &ua.DataValue{EncodingMask: valueAlone, Value: ua.MustVariant(value)}
}

// Change is one MonitoredItemNotification.
type Change struct {
	handle uint32
	value  any
}

// changes returns all MonitoredItemNotifications of a message.
func changes(message *ua.NotificationMessage) []Change {
	var found []Change
	for _, data := range message.NotificationData {
		if data == nil || data.Value == nil {
			continue
		}
		if change, ok := data.Value.(*ua.DataChangeNotification); ok {
			for _, item := range change.MonitoredItems {
				found = append(found, Change{item.ClientHandle, item.Value.Value.Value()})
			}
		}
	}
	return found
}
