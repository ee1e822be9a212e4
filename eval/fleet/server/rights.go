package server

import (
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/skill-evolve/evolve/eval/fleet"
)

const (
	jobsStream    = fleet.Jobs
	resultsStream = fleet.Results
	blobsBucket   = fleet.Bucket
	blobsStream   = "OBJ_" + blobsBucket
)

// replyWithin is how long a worker may take to answer an order.
const replyWithin = time.Minute

// rights are what a member may publish and subscribe to. A worker gives results, hellos
// and acknowledgements in its own name only, and makes or deletes no stream and no
// consumer, except for what reads a blob. It cannot empty the bucket, so nats.go's removal
// of a blob's older content fails for it; blobs are named by their content, and expire. It
// can still have JetStream answer on any subject: see fleet.Invitation.Verify.
func rights(role, id string) (p jwt.Permissions) {
	inbox := "_INBOX_" + id + ".>"
	if role == fleet.RoleCoordinator {
		p.Pub.Allow.Add("evolve.>", "$JS.API.INFO", "$O."+blobsBucket+".>")
		for _, s := range []string{jobsStream, resultsStream, blobsStream} {
			p.Pub.Allow.Add("$JS.API.STREAM.*."+s, "$JS.API.STREAM.MSG.*."+s, "$JS.API.CONSUMER.*."+s, "$JS.API.CONSUMER.*."+s+".>",
				"$JS.API.CONSUMER.MSG.NEXT."+s+".>", "$JS.API.CONSUMER.DURABLE.CREATE."+s+".>", "$JS.API.DIRECT.GET."+s, "$JS.API.DIRECT.GET."+s+".>",
				"$JS.ACK."+s+".>", "$JS.FC."+s+".>")
			p.Pub.Deny.Add("$JS.API.STREAM.DELETE." + s)
		}
		p.Sub.Allow.Add("evolve.>", inbox)
		return p
	}
	p.Pub.Allow.Add("evolve.hello."+id, "evolve.result.*."+id+".>", "$JS.API.INFO",
		"$JS.ACK."+jobsStream+"."+id+".>", "$JS.API.CONSUMER.INFO."+jobsStream+"."+id, "$JS.API.CONSUMER.MSG.NEXT."+jobsStream+"."+id,
		// What nats.go does to read an object and to write one.
		"$JS.API.STREAM.INFO."+blobsStream, "$JS.API.DIRECT.GET."+blobsStream+".$O."+blobsBucket+".M.*", "$O."+blobsBucket+".C.*", "$O."+blobsBucket+".M.*",
		"$JS.API.CONSUMER.CREATE."+blobsStream+".*.$O."+blobsBucket+".C.*", "$JS.API.CONSUMER.DELETE."+blobsStream+".*", "$JS.FC."+blobsStream+".>")
	p.Sub.Allow.Add("evolve.order."+id, fleet.Who, inbox)
	p.Resp = &jwt.ResponsePermission{MaxMsgs: 1, Expires: replyWithin}
	return p
}
