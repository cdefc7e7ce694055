"""Under which names a distribution is imported, as far as its own name tells.

A distribution says so only once it is installed. Most are imported by their own name; of well-known ones that
are not, the names are in the table below. All others get every name that theirs can stand for, of which
at most one is right: `google-cloud-storage` may be `google_cloud_storage` or `google.cloud.storage`.
"""

from __future__ import annotations

from packaging.utils import canonicalize_name

_TABLE = """
    antlr4-python3-runtime: antlr4
    apache-airflow: airflow
    argon2-cffi: argon2
    attrs: attr attrs
    beautifulsoup4: bs4
    biopython: Bio
    django-cors-headers: corsheaders
    django-debug-toolbar: debug_toolbar
    django-filter: django_filters
    djangorestframework: rest_framework
    dnspython: dns
    docker-py: docker
    fonttools: fontTools
    gitpython: git
    google-api-python-client: googleapiclient apiclient
    google-auth: google.auth google.oauth2
    googleapis-common-protos: google.api google.rpc google.type google.longrunning
    grpcio: grpc
    grpcio-health-checking: grpc_health
    grpcio-status: grpc_status
    grpcio-tools: grpc_tools
    ipython: IPython
    jupyter-core: jupyter_core jupyter
    kafka-python: kafka
    levenshtein: Levenshtein
    markdown-it-py: markdown_it
    msgpack-python: msgpack
    mysql-connector-python: mysql.connector
    mysqlclient: MySQLdb
    opencv-contrib-python: cv2
    opencv-contrib-python-headless: cv2
    opencv-python: cv2
    opencv-python-headless: cv2
    pillow: PIL
    protobuf: google.protobuf
    psycopg2-binary: psycopg2
    pycryptodome: Crypto
    pycryptodomex: Cryptodome
    pygithub: github
    pyjwt: jwt
    pymupdf: fitz pymupdf
    pynacl: nacl
    pyobjc-core: objc
    pyopenssl: OpenSSL
    pyqt5: PyQt5
    pyqt6: PyQt6
    pyserial: serial
    pyside6: PySide6
    pysocks: socks sockshandler
    pytest: pytest _pytest
    python-dateutil: dateutil
    python-docx: docx
    python-dotenv: dotenv
    python-engineio: engineio
    python-jose: jose
    python-json-logger: pythonjsonlogger
    python-ldap: ldap ldif ldapurl slapdtest
    python-levenshtein: Levenshtein
    python-magic: magic
    python-multipart: python_multipart multipart
    python-pptx: pptx
    python-slugify: slugify
    python-snappy: snappy
    python-socketio: socketio
    python-telegram-bot: telegram
    pywin32: win32api win32con win32gui win32com pythoncom pywintypes win32file win32process
    pyyaml: yaml _yaml
    pyzmq: zmq
    ruamel-yaml: ruamel.yaml
    scikit-image: skimage
    scikit-learn: sklearn
    setuptools: setuptools pkg_resources
    speechrecognition: speech_recognition
    umap-learn: umap
    websocket-client: websocket
    wxpython: wx
"""
_KNOWN = {name.strip(): tuple(names.split()) for name, _, names in (line.partition(":") for line in _TABLE.split("\n"))}


def import_names(distribution: str) -> tuple[str, ...]:
    """The names to look for, the plain one first; a dotted one is a part of a namespace package."""
    name = canonicalize_name(distribution)
    if known := _KNOWN.get(name):
        return known
    parts = name.split("-")
    return tuple(".".join([*parts[:n], "_".join(parts[n:])]) for n in range(len(parts)))
