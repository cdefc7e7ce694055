CREATE TABLE delta.`{root}/fed` (id INT, name STRING) USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true');
INSERT INTO delta.`{root}/fed` VALUES (1, 'a'), (2, 'b'), (3, 'c');
UPDATE delta.`{root}/fed` SET name = 'x' WHERE id = 2;
MERGE INTO delta.`{root}/fed` t USING (SELECT 3 AS id, 'm' AS name UNION ALL SELECT 4, 'n') s ON t.id = s.id
  WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *;
DELETE FROM delta.`{root}/fed` WHERE id = 1;

CREATE TABLE delta.`{root}/mapped` (id INT, old STRING, gone INT) USING delta TBLPROPERTIES
  ('delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5');
INSERT INTO delta.`{root}/mapped` VALUES (1, 'a', 7), (2, 'b', 8);
ALTER TABLE delta.`{root}/mapped` RENAME COLUMN old TO name;
ALTER TABLE delta.`{root}/mapped` DROP COLUMN gone;
INSERT INTO delta.`{root}/mapped` VALUES (3, 'c');

CREATE TABLE delta.`{root}/listed_features` (id INT, name STRING) USING delta TBLPROPERTIES
  ('delta.feature.appendOnly' = 'supported', 'delta.feature.changeDataFeed' = 'supported');
INSERT INTO delta.`{root}/listed_features` VALUES (1, 'a'), (2, NULL);

SET spark.databricks.delta.checkpoint.partSize = 3;
CREATE TABLE delta.`{root}/many_parts` (id INT, name STRING) USING delta
  TBLPROPERTIES ('delta.checkpointInterval' = '4');
INSERT INTO delta.`{root}/many_parts` SELECT /*+ REPARTITION(3) */ CAST(id AS INT), 'a' FROM range(0, 9, 1, 1);
INSERT INTO delta.`{root}/many_parts` VALUES (20, 'b');
DELETE FROM delta.`{root}/many_parts` WHERE id = 4;
INSERT INTO delta.`{root}/many_parts` VALUES (21, 'c');
INSERT INTO delta.`{root}/many_parts` VALUES (22, 'd');

CREATE TABLE delta.`{root}/shallow_clone` SHALLOW CLONE delta.`{root}/fed`;
