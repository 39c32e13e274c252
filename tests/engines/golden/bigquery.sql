SELECT
  COUNT(*) AS `n`
FROM `patients` AS `t0`;

SELECT
  `t1`.`key0`,
  COUNT(*) AS `weight`
FROM (
  SELECT
    (
      CAST(CASE
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '6e6f'
        THEN 0
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '796573'
        THEN 1
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '59'
        THEN 1
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '72656675736564'
        THEN 0
        WHEN TO_HEX(CAST(TRIM(`t0`.`smoke`, ' \t\n\r\v\f') AS BYTES)) = '796573'
        THEN 1
        WHEN TO_HEX(CAST(TRIM(`t0`.`smoke`, ' \t\n\r\v\f') AS BYTES)) = '59'
        THEN 1
        ELSE 0
      END AS INT64) * 1
    ) + (
      CAST(IF(
        (
          `t0`.`age` IS NULL
        )
        OR IS_NAN(`t0`.`age`)
        OR `t0`.`age` IN (CAST('999.0' AS FLOAT64)),
        0,
        IF(
          `t0`.`age` >= CAST('40.0' AS FLOAT64),
          IF(`t0`.`age` >= CAST('65.0' AS FLOAT64), 3, 2),
          IF(`t0`.`age` >= CAST('18.0' AS FLOAT64), 1, 0)
        )
      ) AS INT64) * 2
    ) + (
      CAST(CASE
        WHEN CAST(`t0`.`dose` AS FLOAT64) = CAST('2.5' AS FLOAT64)
        THEN 2
        WHEN CAST(`t0`.`dose` AS FLOAT64) = CAST('0.10000000149011612' AS FLOAT64)
        THEN 1
        ELSE 0
      END AS INT64) * 8
    ) + (
      CASE
        WHEN `t0`.`ward` BETWEEN 1 AND 4
        THEN CAST(`t0`.`ward` AS INT64) + -1
        ELSE 4
      END * 32
    ) + (
      CAST(IF(
        `t0`.`paid` IS NULL,
        0,
        IF(
          CAST(CAST(`t0`.`paid` AS STRING) AS FLOAT64) >= CAST('99.95' AS FLOAT64),
          2,
          IF(CAST(CAST(`t0`.`paid` AS STRING) AS FLOAT64) >= CAST('0.1' AS FLOAT64), 1, 0)
        )
      ) AS INT64) * 256
    ) + (
      CAST(CASE WHEN `t0`.`born` = CAST('2020-01-01' AS DATE) THEN 1 ELSE 0 END AS INT64) * 1024
    ) + (
      CAST(CASE WHEN `t0`.`seen` = CAST('2020-01-01 12:30:00' AS DATETIME) THEN 1 ELSE 0 END AS INT64) * 2048
    ) + (
      CAST(CASE
        WHEN `t0`.`sent` = CAST('2020-01-01 12:30:00.000001+00:00' AS TIMESTAMP)
        THEN 1
        ELSE 0
      END AS INT64) * 4096
    ) + (
      CAST(CASE WHEN `t0`.`dead` = TRUE THEN 1 ELSE 0 END AS INT64) * 8192
    ) AS `key0`
  FROM `patients` AS `t0`
) AS `t1`
GROUP BY
  1;

SELECT
  `t1`.`cell`,
  COUNT(*) AS `weight`
FROM (
  SELECT
    (
      CAST(CASE
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '6e6f'
        THEN 0
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '796573'
        THEN 1
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '59'
        THEN 1
        WHEN TO_HEX(CAST(`t0`.`smoke` AS BYTES)) = '72656675736564'
        THEN 0
        WHEN TO_HEX(CAST(TRIM(`t0`.`smoke`, ' \t\n\r\v\f') AS BYTES)) = '796573'
        THEN 1
        WHEN TO_HEX(CAST(TRIM(`t0`.`smoke`, ' \t\n\r\v\f') AS BYTES)) = '59'
        THEN 1
        ELSE 0
      END AS INT64) * 4
    ) + CAST(IF(
      (
        `t0`.`age` IS NULL
      )
      OR IS_NAN(`t0`.`age`)
      OR `t0`.`age` IN (CAST('999.0' AS FLOAT64)),
      0,
      IF(
        `t0`.`age` >= CAST('40.0' AS FLOAT64),
        IF(`t0`.`age` >= CAST('65.0' AS FLOAT64), 3, 2),
        IF(`t0`.`age` >= CAST('18.0' AS FLOAT64), 1, 0)
      )
    ) AS INT64) AS `cell`
  FROM `patients` AS `t0`
) AS `t1`
GROUP BY
  1;
