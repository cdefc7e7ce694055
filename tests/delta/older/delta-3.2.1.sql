CREATE TABLE delta.`{root}/vectors` (id INT, name STRING) USING delta
  TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true');
INSERT INTO delta.`{root}/vectors` SELECT CAST(id AS INT), concat('n', id) FROM range(0, 50, 1, 1);
DELETE FROM delta.`{root}/vectors` WHERE id % 7 = 0;
UPDATE delta.`{root}/vectors` SET name = 'x' WHERE id = 3;

CREATE TABLE delta.`{root}/v2_checkpoint` (id INT, name STRING) USING delta
  TBLPROPERTIES ('delta.checkpointPolicy' = 'v2', 'delta.checkpointInterval' = '2');
INSERT INTO delta.`{root}/v2_checkpoint` VALUES (1, 'a'), (2, 'b');
DELETE FROM delta.`{root}/v2_checkpoint` WHERE id = 1;
INSERT INTO delta.`{root}/v2_checkpoint` VALUES (3, 'c');

CREATE TABLE delta.`{root}/clustered` (id INT, name STRING) USING delta CLUSTER BY (id);
INSERT INTO delta.`{root}/clustered` VALUES (2, 'b'), (1, 'a');
INSERT INTO delta.`{root}/clustered` VALUES (3, 'c');
OPTIMIZE delta.`{root}/clustered`;

CREATE TABLE delta.`{root}/tracked` (id INT, name STRING) USING delta
  TBLPROPERTIES ('delta.enableRowTracking' = 'true');
INSERT INTO delta.`{root}/tracked` VALUES (1, 'a'), (2, 'b');
UPDATE delta.`{root}/tracked` SET name = 'x' WHERE id = 2;

CREATE TABLE delta.`{root}/defaults` (id INT, name STRING DEFAULT 'z', moment TIMESTAMP_NTZ) USING delta
  TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported');
INSERT INTO delta.`{root}/defaults` (id, moment) VALUES (1, TIMESTAMP_NTZ'2024-01-02 03:04:05.678901');

CREATE TABLE delta.`{root}/widened` (id SMALLINT, name STRING) USING delta
  TBLPROPERTIES ('delta.enableTypeWidening' = 'true');
INSERT INTO delta.`{root}/widened` VALUES (1, 'a');
ALTER TABLE delta.`{root}/widened` ALTER COLUMN id TYPE INT;
INSERT INTO delta.`{root}/widened` VALUES (70000, 'b');

