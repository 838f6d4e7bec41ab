# kustomize and kpt run functions as the user nobody, without network and
# writable files: the image needs the static binary and a passwd that names nobody.
FROM scratch
COPY hack/image/passwd /etc/passwd
COPY bin/trimtab /usr/local/bin/trimtab
USER nobody
ENTRYPOINT ["/usr/local/bin/trimtab"]
