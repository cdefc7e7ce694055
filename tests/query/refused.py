"""Texts that must never run: writes, definitions, several statements, files, networks, settings; what hides them."""

from __future__ import annotations

import re

REFUSED = r"""
INSERT INTO calls VALUES (1)
INSERT INTO calls SELECT * FROM calls
INSERT OVERWRITE calls SELECT * FROM calls
REPLACE INTO calls VALUES (1)
UPDATE calls SET caller = 'x'
DELETE FROM calls
DELETE FROM calls WHERE true
TRUNCATE TABLE calls
MERGE INTO calls USING files ON true WHEN MATCHED THEN DELETE
UPSERT INTO calls VALUES (1)
CREATE TABLE t (a int)
CREATE TABLE t AS SELECT 1
CREATE OR REPLACE TABLE t AS SELECT 1
CREATE VIEW v AS SELECT 1
CREATE OR REPLACE VIEW calls AS SELECT 1
CREATE TEMPORARY VIEW v AS SELECT 1
CREATE MATERIALIZED VIEW v AS SELECT 1
CREATE EXTERNAL TABLE t STORED AS PARQUET LOCATION '/etc/passwd'
CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 's3://bucket/key'
CREATE FUNCTION f() RETURNS int RETURN 1
CREATE INDEX i ON calls (caller)
CREATE SCHEMA s
CREATE DATABASE d
DROP TABLE calls
DROP TABLE IF EXISTS calls
DROP VIEW definitions
DROP SCHEMA public CASCADE
DROP FUNCTION abs
ALTER TABLE calls ADD COLUMN x int
ALTER TABLE calls RENAME TO other
COMMENT ON TABLE calls IS 'x'
ANALYZE TABLE calls
ANALYZE calls
VACUUM calls
VACUUM
OPTIMIZE calls
REFRESH TABLE calls
MSCK REPAIR TABLE calls
CACHE TABLE calls
UNCACHE TABLE calls
RESTORE TABLE calls TO VERSION AS OF 1
CONVERT TO DELTA parquet.`/tmp/x`
DESCRIBE calls
DESCRIBE HISTORY calls
DESC calls
SHOW TABLES
SHOW FUNCTIONS
SHOW ALL
SHOW datafusion.execution.batch_size
EXPLAIN SELECT 1
EXPLAIN ANALYZE SELECT 1
SET datafusion.execution.batch_size = 1
SET datafusion.runtime.memory_limit = '1T'
SET x = 1
RESET ALL
USE other
BEGIN
BEGIN TRANSACTION
START TRANSACTION
COMMIT
ROLLBACK
SAVEPOINT s
LOCK TABLE calls
GRANT SELECT ON calls TO public
REVOKE SELECT ON calls FROM public
PREPARE p AS SELECT 1
EXECUTE p
DEALLOCATE p
CALL system.sync()
DO $$ BEGIN END $$
LISTEN x
NOTIFY x
KILL 1
PRAGMA table_info(calls)
ATTACH DATABASE 'x.db' AS x
DETACH x
INSTALL httpfs
LOAD httpfs
LOAD DATA INPATH '/etc/passwd' INTO TABLE calls
EXPORT DATABASE '/tmp/x'
IMPORT DATABASE '/tmp/x'
UNLOAD (SELECT 1) TO 's3://bucket/key'
COPY calls TO '/tmp/x.csv'
COPY (SELECT * FROM calls) TO '/tmp/x.parquet'
COPY calls FROM '/etc/passwd'
COPY (SELECT 1) TO STDOUT
COPY calls TO PROGRAM 'sh'
SELECT * INTO t FROM calls
SELECT 1 INTO OUTFILE '/tmp/x'
SELECT * FROM calls FOR UPDATE
SELECT * FROM calls FOR SHARE
SELECT 1; DROP TABLE calls
SELECT 1; SELECT 2
SELECT 1;; SELECT 2
; DROP TABLE calls
SELECT 1 /* ; */ ; DELETE FROM calls
SELECT 1 -- a comment\n; DELETE FROM calls
/* SELECT 1 */ DROP TABLE calls
/*! DROP TABLE calls */ DELETE FROM calls
-- SELECT 1\nDROP TABLE calls
(DELETE FROM calls)
WITH x AS (DELETE FROM calls RETURNING *) SELECT * FROM x
WITH x AS (INSERT INTO calls SELECT 1 RETURNING *) SELECT * FROM x
WITH x AS (UPDATE calls SET caller = '' RETURNING *) SELECT * FROM x
WITH x AS (SELECT 1) DELETE FROM calls
WITH x AS (SELECT 1) INSERT INTO calls SELECT * FROM x
WITH x AS (DROP TABLE calls) SELECT 1
SELECT (DELETE FROM calls)
SELECT * FROM (DROP TABLE calls)
SELECT * FROM '/etc/passwd'
SELECT * FROM "/etc/passwd"
SELECT * FROM `/etc/passwd`
SELECT * FROM 'file.parquet'
SELECT * FROM "file.parquet"
SELECT * FROM 's3://bucket/key'
SELECT * FROM "https://example.org/x.csv"
SELECT * FROM parquet.`/tmp/x`
SELECT * FROM delta.`/tmp/x`
SELECT * FROM csv.`/etc/passwd`
SELECT * FROM other.calls
SELECT * FROM public.calls
SELECT * FROM datafusion.public.calls
SELECT * FROM information_schema.df_settings
SELECT * FROM information_schema.tables
SELECT * FROM pg_catalog.pg_class
SELECT * FROM read_parquet('/tmp/x')
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_csv_auto('/etc/passwd')
SELECT * FROM read_json('https://example.org')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/etc/passwd')
SELECT * FROM parquet_metadata('/tmp/x')
SELECT * FROM glob('/*')
SELECT * FROM delta_scan('/tmp/x')
SELECT * FROM table_changes('/tmp/x', 0)
SELECT * FROM sqlite_scan('x', 'y')
SELECT * FROM postgres_scan('x', 'y', 'z')
SELECT * FROM httpfs('x')
SELECT * FROM TABLE(read_csv('/etc/passwd'))
SELECT * FROM calls, read_csv('/etc/passwd')
SELECT * FROM calls JOIN LATERAL read_csv('/etc/passwd') ON true
SELECT pg_read_file('/etc/passwd')
SELECT load_file('/etc/passwd')
SELECT lo_import('/etc/passwd')
SELECT pg_sleep(100)
SELECT sleep(100)
SELECT getenv('HOME')
SELECT current_setting('x')
SELECT set_config('x', 'y', false)
SELECT sys_exec('id')
SELECT xp_cmdshell('id')
SELECT java_method('java.lang.System', 'exit', 0)
SELECT reflect('java.lang.System', 'getenv')
SELECT query_to_xml('DROP TABLE calls', true, true, '')
SELECT dblink('host=example.org', 'SELECT 1')
SELECT UTL_HTTP.REQUEST('http://example.org')
SELECT * FROM calls WHERE sleep(1) = 0
SELECT * FROM calls ORDER BY load_file('/etc/passwd')
SELECT ?
SELECT :name
SELECT $1
SELECT @@version
SELECT @x
SELECT * FROM calls VERSION AS OF 1
SELECT * FROM calls FOR SYSTEM_TIME AS OF '2020-01-01'
SELECT * FROM no_such_table
SELECT no_such_column FROM calls
SELECT calls.no_such_column FROM calls
SELECT * FROM (SELECT caller FROM calls) x WHERE x.target = 'a'
SELECT no_such_function(1)
SELECT 'never ends
SELECT "never ends
SELECT /* never ends
SELECT 1 FROM
SELECT FROM WHERE
SELEC 1
sElEcT 1 fRoM nowhere
ＤＲＯＰ TABLE calls
DR\u200bOP TABLE calls
\ufeffDROP TABLE calls
DROP\u00a0TABLE calls
D\0ROP TABLE calls
SELECT 1\0; DROP TABLE calls
\x44524f50205441424c452063616c6c73
U&'\0044ROP'
VALUES (1)
TABLE calls
HELP
\d calls
.tables
""".strip().split("\n")
_WRITTEN_OUT = re.compile(r"\\(n|0|u[0-9a-f]{4})")
REFUSED = [_WRITTEN_OUT.sub(lambda found: found[0].encode().decode("unicode_escape"), text) for text in REFUSED]
REFUSED += ["", "   ", "-- nothing", "/* nothing */", ";", "SELECT " + "(" * 3000 + "1" + ")" * 3000]
REFUSED += ["SELECT 1" + " OR 1 = 1" * 5000, "SELECT '" + "x" * 1_000_001 + "'"]
