//go:build !previous

package main

import (
	"k8s.io/client-go/informers"
	resourcev1 "k8s.io/client-go/informers/resource/v1"
)

// deviceTaintRules returns the informer that the scheduler of Kubernetes 1.37 uses.
func deviceTaintRules(factory informers.SharedInformerFactory) resourcev1.TypedDeviceTaintRuleInformer {
	return factory.Resource().V1().DeviceTaintRules()
}
