"""Reads the files of an ISO 9660 image by ECMA-119 alone, as a guest would without any extension."""

import struct

SECTOR = 2048


def volume_label(image):
    return image[16 * SECTOR + 40:16 * SECTOR + 72].decode().rstrip()


def files(image):
    """Returns the content by name, of the root folder."""
    assert image[16 * SECTOR + 1:16 * SECTOR + 6] == b"CD001"
    root, length = _extent(image[16 * SECTOR + 156:])
    found, at = {}, root * SECTOR
    while at < root * SECTOR + length and image[at]:
        record = image[at:at + image[at]]
        if not record[25] & 2:  # not a folder
            start, size = _extent(record)
            name = record[33:33 + record[32]].decode().split(";")[0].rstrip(".")
            found[name] = image[start * SECTOR:start * SECTOR + size]
        at += image[at]
    return found


def _extent(record):
    return struct.unpack_from("<I", record, 2)[0], struct.unpack_from("<I", record, 10)[0]
