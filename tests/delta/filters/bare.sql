i = 5
i > 100
i IS NULL
i IS NOT NULL
j = 5
i = 5 AND j = 5
i = 5 AND late = 5
late = 5
late IS NULL
i = 5 OR late = 5
i IN (1, 2)
abs(i) = 5
