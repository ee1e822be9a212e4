package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"time"

	"github.com/skill-evolve/evolve/mutate/skill/bounded"
)

const (
	authorityLasts   = 20 * 365 * 24 * time.Hour // as every invitation holds it
	certificateLasts = 365 * 24 * time.Hour
	renewBefore      = 30 * 24 * time.Hour
	clocksDiffer     = time.Hour // a new certificate is valid on machines whose clocks are so much behind
)

// certificate returns the server's certificate for these hosts, and the authority that
// signed it. It makes both if there are none, and the certificate again if it expires
// within 30 days or is for other hosts. The authority stays, so invitations stay valid.
func (f *Folder) certificate(hosts []string) (cert, authority *tls.Certificate, err error) {
	err = f.locked(func() error {
		if authority, err = f.pair(authorityFile); errors.Is(err, fs.ErrNotExist) {
			authority, err = f.newPair(authorityFile, &x509.Certificate{Subject: pkix.Name{CommonName: "evolve fleet"},
				IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign}, authorityLasts, nil)
		}
		if err != nil {
			return err
		}
		if cert, err = f.pair(certificateFile); err == nil && f.fits(cert.Leaf, authority.Leaf, hosts) {
			return nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		names, ips := divide(hosts)
		cert, err = f.newPair(certificateFile, &x509.Certificate{Subject: pkix.Name{CommonName: "evolve fleet server"}, DNSNames: names, IPAddresses: ips,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, certificateLasts, authority)
		return err
	})
	return cert, authority, err
}

// fits reports whether a certificate can be used for these hosts for another 30 days.
func (f *Folder) fits(cert, authority *x509.Certificate, hosts []string) bool {
	names, ips := divide(hosts)
	return f.now().Add(renewBefore).Before(cert.NotAfter) && cert.CheckSignatureFrom(authority) == nil &&
		slices.Equal(cert.DNSNames, names) && slices.EqualFunc(cert.IPAddresses, ips, net.IP.Equal)
}

func divide(hosts []string) (names []string, ips []net.IP) {
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			ips = append(ips, ip)
		} else {
			names = append(names, h)
		}
	}
	return names, ips
}

// pair reads a certificate with its key from one file. The error is fs.ErrNotExist if
// there is none.
func (f *Folder) pair(name string) (*tls.Certificate, error) {
	text, err := bounded.ReadFile(filepath.Join(f.dir, name), maxFile)
	if err != nil {
		return nil, fmt.Errorf("read the fleet's folder: %w", err)
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, f.damaged(name, err)
	}
	return &pair, nil
}

// newPair makes a key and a certificate for it, signed by an authority, or by itself if
// that is nil.
func (f *Folder) newPair(name string, c *x509.Certificate, lasts time.Duration, authority *tls.Certificate) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if c.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	now := f.now()
	c.NotBefore, c.NotAfter = now.Add(-clocksDiffer), now.Add(lasts)
	parent, signer := c, any(key)
	if authority != nil {
		parent, signer = authority.Leaf, authority.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	if err := f.writeText(name, append(certificatePEM(der), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)); err != nil {
		return nil, err
	}
	return f.pair(name)
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// fingerprint is the SHA-256 of a certificate in hex.
func fingerprint(c *tls.Certificate) string {
	return fmt.Sprintf("%x", sha256.Sum256(c.Certificate[0]))
}
