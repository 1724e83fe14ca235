package main

import (
	"io"
	"log"
	"net"
	"strconv"
)

// relay lets the machine reach 127.0.0.1:PORT of the outside, where the API server listens, under the same address: it listens there inside
// and dials from outside.
func relay(in *inside, port int) error {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	var listener net.Listener
	err := in.do(func() (err error) {
		listener, err = net.Listen("tcp", address)
		return err
	})
	if err != nil {
		return err
	}
	go func() {
		for {
			inner, err := listener.Accept()
			if err != nil {
				log.Print("relay: ", err)
				return
			}
			go pass(inner, address)
		}
	}()
	return nil
}

func pass(inner net.Conn, address string) {
	defer inner.Close()
	outer, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer outer.Close()
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{inner, outer}, {outer, inner}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	// One side that has ended ends both: nothing here uses half-closed connections.
	<-ended
}
