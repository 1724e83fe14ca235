//go:build previous

package main

import (
	"k8s.io/client-go/informers"
	resourcev1beta2 "k8s.io/client-go/informers/resource/v1beta2"
)

// deviceTaintRules returns the informer that the scheduler of Kubernetes 1.36 uses.
func deviceTaintRules(factory informers.SharedInformerFactory) resourcev1beta2.DeviceTaintRuleInformer {
	return factory.Resource().V1beta2().DeviceTaintRules()
}
