CREATE TABLE delta.`{root}/plain` (id BIGINT, name STRING, part STRING, price DECIMAL(10,2), day DATE, moment TIMESTAMP,
  tags ARRAY<STRING>, place STRUCT<line:INT,path:STRING>, counts MAP<STRING,INT>) USING delta PARTITIONED BY (part);
INSERT INTO delta.`{root}/plain` SELECT id, concat('n', id), if(id % 2 = 0, 'even', NULL), CAST(id * 1.25 AS DECIMAL(10,2)),
  date_add(DATE'2021-12-30', CAST(id AS INT)), TIMESTAMP'2021-12-30 23:59:59.123456', array('a', NULL, concat('t', id)),
  named_struct('line', CAST(id AS INT), 'path', 'x/ y.py'), map('k', CAST(id AS INT)) FROM range(0, 20, 1, 2);
UPDATE delta.`{root}/plain` SET name = 'updated' WHERE id = 3;
DELETE FROM delta.`{root}/plain` WHERE id >= 18;
INSERT INTO delta.`{root}/plain` VALUES (100, NULL, 'a b/c=d', NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE delta.`{root}/many_commits` (id INT NOT NULL, name STRING) USING delta;
ALTER TABLE delta.`{root}/many_commits` ADD CONSTRAINT positive CHECK (id > 0);
INSERT INTO delta.`{root}/many_commits` VALUES (1, 'a');
INSERT INTO delta.`{root}/many_commits` VALUES (2, 'b');
INSERT INTO delta.`{root}/many_commits` VALUES (3, 'c');
INSERT INTO delta.`{root}/many_commits` VALUES (4, 'd');
INSERT INTO delta.`{root}/many_commits` VALUES (5, 'e');
INSERT INTO delta.`{root}/many_commits` VALUES (6, 'f');
INSERT INTO delta.`{root}/many_commits` VALUES (7, 'g');
INSERT INTO delta.`{root}/many_commits` VALUES (8, 'h');
INSERT INTO delta.`{root}/many_commits` VALUES (9, 'i');
INSERT INTO delta.`{root}/many_commits` VALUES (10, 'j');
DELETE FROM delta.`{root}/many_commits` WHERE id = 5;

CREATE TABLE delta.`{root}/mapped` (id INT, old STRING, part INT) USING delta PARTITIONED BY (part)
  TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5');
INSERT INTO delta.`{root}/mapped` VALUES (1, 'a', 7), (2, 'b', 8);
ALTER TABLE delta.`{root}/mapped` RENAME COLUMN old TO name;
INSERT INTO delta.`{root}/mapped` VALUES (3, 'c', 7);

